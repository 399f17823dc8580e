// Every pattern on the transport under test, for all the tests that are linked with this file.
#include "patterns/all_patterns.hpp"
