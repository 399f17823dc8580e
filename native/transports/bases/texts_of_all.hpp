// Exchanges the addresses of ranks as texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contract/transport.hpp"

namespace nhalf {

/// Every rank's text at every rank, by rank; the texts may hold any bytes. All ranks call it.
template <class T>
std::vector<std::string> texts_of_all(T& control, const std::string& mine) {
  auto texts = control.gather(mine);
  texts.resize(static_cast<std::size_t>(control.size()));
  for (auto& text : texts) {
    std::uint64_t length = text.size();
    control.broadcast(std::as_writable_bytes(std::span(&length, 1)));
    text.resize(length);
    if (length > 0) control.broadcast(std::as_writable_bytes(std::span(text)));
  }
  return texts;
}

}  // namespace nhalf
