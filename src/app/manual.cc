// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/command_page.h"
#include "app/messages.h"

namespace everywatt::app {
namespace {

std::string full_name(const CommandPage& page) {
  return page.name.empty() ? "everywatt" : "everywatt-" + page.name;
}

// Text that roff takes as it stands.
std::string escape(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      // Chinese has no blanks: a line may end before any of its characters.
      if (static_cast<unsigned char>(c) >= 0xe3) escaped += "\\:";
      escaped += c;
    }
  }
  return escaped;
}

std::string joined_names(const OptionLine& option) {
  std::string line;
  for (const std::string& name : option.names) {
    line += (line.empty() ? "\\fB" : ", \\fB") + escape(name) + "\\fR";
  }
  if (!option.value.empty()) {
    line += (line.empty() ? "\\fI" : " \\fI") + escape(option.value) + "\\fR";
  }
  return line;
}

std::string format_synopsis(const CommandPage& page) {
  std::string line = "\\fBeverywatt\\fR";
  if (page.name.empty()) {
    line += " [\\fICOMMAND\\fR]";
  } else {
    line += " \\fB" + escape(page.name) + "\\fR";
  }
  line += " [\\fIOPTIONS\\fR]";
  for (const OptionLine& option : page.options) {
    if (option.names.empty()) {
      const std::string value = "\\fI" + escape(option.value) + "\\fR";
      line += option.is_required ? " " + value : " [" + value + "]";
    } else if (option.is_required) {
      line += " " + joined_names(option);
    }
  }
  return line + "\n";
}

std::string format_entry(const std::string& term, std::string_view text) {
  return ".TP\n" + term + "\n" + escape(text) + "\n";
}

std::string format_see_also(const std::vector<CommandPage>& pages, const CommandPage& page) {
  std::string line;
  for (const CommandPage& other : pages) {
    if (other.name == page.name || (!page.name.empty() && !other.name.empty())) continue;
    line += (line.empty() ? ".BR " : " ,\n.BR ") + escape(full_name(other)) + " (1)";
  }
  return line + "\n";
}

}  // namespace

std::string format_manual(const std::vector<CommandPage>& pages, const CommandPage& page,
                          Language language) {
  const auto heading = [language](Message message) {
    return ".SH \"" + std::string(text(language, message)) + "\"\n";
  };
  std::string title = full_name(page);
  std::ranges::transform(title, title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string manual =
      ".TH \"" + escape(title) + "\" 1 \"\" \"everywatt " EVERYWATT_VERSION "\" \"Everywatt\"\n";
  // Long options and Chinese have few places to break a line at.
  manual += ".nh\n.ad l\n";
  manual += heading(Message::manual_name) + escape(full_name(page)) + " \\- " + escape(page.help) +
            "\n" + heading(Message::manual_synopsis) + format_synopsis(page);
  if (page.name.empty()) {
    manual += heading(Message::manual_commands);
    for (const CommandPage& command : pages) {
      if (command.name.empty()) continue;
      manual += format_entry("\\fB" + escape(command.name) + "\\fR", command.help);
    }
  }
  manual += heading(Message::manual_options);
  for (const OptionLine& option : page.options) {
    manual += format_entry(joined_names(option), option.help);
  }
  manual +=
      heading(Message::manual_exit_status) + escape(text(language, Message::help_footer)) + "\n";
  manual += heading(Message::manual_files);
  manual += format_entry(
      "\\fI/etc/everywatt/everywatt.toml\\fR, "
      "\\fI~/.config/everywatt/everywatt.toml\\fR",
      text(language, Message::manual_config_file));
  manual += format_entry("\\fI/run/everywatt\\fR", text(language, Message::manual_run_folder));
  manual += format_entry("\\fI/var/lib/everywatt\\fR", text(language, Message::manual_data_folder));
  return manual + heading(Message::manual_see_also) + format_see_also(pages, page);
}

}  // namespace everywatt::app
