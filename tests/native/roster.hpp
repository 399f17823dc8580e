// The transport under test. All its patterns are compiled once, in roster.cpp, and are found in
// patterns<ProbeTransport>(); a test includes a pattern's own header only to use its class.
#pragma once

#include "contract/pattern.hpp"
#include NHALF_TRANSPORT_HEADER
