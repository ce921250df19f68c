// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/notify/channel_options.h"
#include "serve/notify/message.h"
#include "serve/notify/notification.h"

namespace everywatt::notify {

// How values are written so that they end nothing of the body around them; by its content type.
enum class Escaping { kJson, kForm, kXml, kNone };
Escaping escaping_of(std::string_view content_type);

// The body of a generic webhook with places to fill: {{ title }}, {{ label.gpu }}, {{ text 200 }},
// {{ each alerts }} … {{ end }}. docs/notify.md has the names; there are no conditions.
class BodyTemplate {
 public:
  // kInvalidArgument names the line and what is wrong in it.
  static base::Result<BodyTemplate> parse(std::string_view text);

  std::string render(const Notification& notification, const ChannelOptions& options,
                     Escaping escaping) const;

 private:
  enum class Kind { kText, kPlace, kEach, kEnd };
  struct Piece {
    Kind kind = Kind::kText;
    std::string text{};     // the text, or the name of the place
    std::size_t limit = 0;  // characters; 0: all
  };

  std::vector<Piece> pieces_;
};

}  // namespace everywatt::notify
