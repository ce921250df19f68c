// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/time_text.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "base/text.h"

namespace everywatt::notify {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

// Reads numbers of a fixed width off the front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_number(std::size_t width, int low, int high, int& value) {
    const auto number = base::parse_u64(rest_.substr(0, width));
    if (rest_.size() < width || !number) return false;
    value = static_cast<int>(*number);
    rest_.remove_prefix(width);
    return value >= low && value <= high;
  }
  // Digits after a point, of which nine count.
  bool take_fraction(std::int64_t& fraction_ns) {
    std::size_t digits = 0;
    for (std::int64_t unit = kSecond_ns / 10; digits < rest_.size(); ++digits, unit /= 10) {
      if (rest_[digits] < '0' || rest_[digits] > '9') break;
      fraction_ns += (rest_[digits] - '0') * unit;
    }
    rest_.remove_prefix(digits);
    return digits > 0;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool take_offset(Scanner& scanner, int& offset_s) {
  if (scanner.take('Z') || scanner.take('z')) return true;
  const bool is_west = scanner.take('-');
  int hours = 0;
  int minutes = 0;
  if (!is_west && !scanner.take('+')) return false;
  if (!scanner.take_number(2, 0, 23, hours) || !scanner.take(':') ||
      !scanner.take_number(2, 0, 59, minutes)) {
    return false;
  }
  offset_s = (is_west ? -60 : 60) * (hours * 60 + minutes);
  return true;
}

tm local(std::int64_t wall_ns) {
  const std::time_t seconds = wall_ns / kSecond_ns;
  tm parts{};
  ::localtime_r(&seconds, &parts);
  return parts;
}

std::string strftime_text(const char* format, const tm& parts) {
  std::array<char, 64> text{};
  return std::string(text.data(), std::strftime(text.data(), text.size(), format, &parts));
}

// +0800 -> +08:00
std::string zone(const tm& parts) {
  std::string offset = strftime_text("%z", parts);
  if (offset.size() == 5) offset.insert(3, ":");
  return offset;
}

}  // namespace

std::optional<std::optional<std::int64_t>> parse_rfc3339(std::string_view text) {
  Scanner scanner(text);
  tm parts{};
  std::int64_t fraction_ns = 0;
  int offset_s = 0;
  const bool is_date = scanner.take_number(4, 0, 9999, parts.tm_year) && scanner.take('-') &&
                       scanner.take_number(2, 1, 12, parts.tm_mon) && scanner.take('-') &&
                       scanner.take_number(2, 1, 31, parts.tm_mday) &&
                       (scanner.take('T') || scanner.take('t'));
  if (!is_date || !scanner.take_number(2, 0, 23, parts.tm_hour) || !scanner.take(':') ||
      !scanner.take_number(2, 0, 59, parts.tm_min) || !scanner.take(':') ||
      !scanner.take_number(2, 0, 60, parts.tm_sec)) {
    return std::nullopt;
  }
  if (scanner.take('.') && !scanner.take_fraction(fraction_ns)) return std::nullopt;
  if (!take_offset(scanner, offset_s) || !scanner.is_done()) return std::nullopt;
  if (parts.tm_year == 1) return std::optional<std::int64_t>();
  if (parts.tm_year < 1678 || parts.tm_year > 2261) return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  // timegm() makes the 3rd of March of the 31st of February.
  tm noon{};
  noon.tm_year = parts.tm_year;
  noon.tm_mon = parts.tm_mon;
  noon.tm_mday = parts.tm_mday;
  noon.tm_hour = 12;
  ::timegm(&noon);
  if (noon.tm_mday != parts.tm_mday) return std::nullopt;
  const std::time_t seconds = ::timegm(&parts);
  return std::optional((static_cast<std::int64_t>(seconds) - offset_s) * kSecond_ns + fraction_ns);
}

std::string format_rfc3339(std::int64_t wall_ns) {
  std::time_t seconds = wall_ns / kSecond_ns;
  std::int64_t fraction_ns = wall_ns % kSecond_ns;
  if (fraction_ns < 0) {
    fraction_ns += kSecond_ns;
    --seconds;
  }
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::string text = strftime_text("%Y-%m-%dT%H:%M:%S", parts);
  if (fraction_ns != 0) {
    text += fmt::format(".{:09}", fraction_ns);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "Z";
}

std::string format_local_time(std::int64_t wall_ns) {
  const tm parts = local(wall_ns);
  return strftime_text("%Y-%m-%d %H:%M:%S ", parts) + zone(parts);
}

std::string format_mail_date(std::int64_t wall_ns) {
  // Not strftime's names, which follow the locale.
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const tm parts = local(wall_ns);
  return fmt::format("{}, {:02} {} {:04} {}", kDays[static_cast<std::size_t>(parts.tm_wday)],
                     parts.tm_mday, kMonths[static_cast<std::size_t>(parts.tm_mon)],
                     parts.tm_year + 1900, strftime_text("%H:%M:%S %z", parts));
}

std::string format_duration(std::int64_t duration_ns, Language language) {
  const bool is_english = language == Language::kEnglish;
  const std::string_view day = is_english ? "d" : "天";
  const std::string_view hour = is_english ? "h" : "小时";
  const std::string_view minute = is_english ? "min" : "分钟";
  const std::string_view second = is_english ? "s" : "秒";
  const std::int64_t seconds = duration_ns / kSecond_ns;
  const auto two = [](std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
    if (small == 0) return fmt::format("{} {}", large, large_unit);
    return fmt::format("{} {} {} {}", large, large_unit, small, small_unit);
  };
  if (seconds < 60) return fmt::format("{} {}", seconds, second);
  if (seconds < 3600) return two(seconds / 60, minute, seconds % 60, second);
  if (seconds < 86'400) return two(seconds / 3600, hour, seconds / 60 % 60, minute);
  return two(seconds / 86'400, day, seconds / 3600 % 24, hour);
}

}  // namespace everywatt::notify
