// The words of the standard library that nearly every file here uses. Who includes this header, or
// one that does, names none of them again; headers for a special purpose are named where they are
// used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
