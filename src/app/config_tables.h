// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/config.h"
#include "app/config_key.h"

// Tables that a user names, [notify.NAME] and [remote_write.NAME]: of each there may be many.
namespace everywatt::app {

// A key of such a table; `key.name` is without the table's, `key.apply` is not used.
struct TableKey {
  ConfigKey key;
  // Makes the table's options if they are not there yet.
  base::Status (*apply)(Config& config, std::string_view table, const ConfigValue& value);
};

struct TableKind {
  std::string_view section;  // "notify"
  std::string_view example;  // a table's name in the default file
  // Whose values are texts under names of the user's; "": there is none.
  std::string_view names_key;
  std::span<const TableKey> keys;
  std::string_view en;
  std::string_view zh;
};

std::span<const TableKind> table_kinds();
const TableKind* find_table_kind(std::string_view section);

// What may name a table: [a-z0-9_-]{1,32}.
bool is_table_name(std::string_view name);

// Sets one key of a table; `where` stands before what is said.
void apply_table_value(const TableKind& kind, std::string_view table, const TableKey& key,
                       ConfigValue value, const std::string& where, Language language,
                       ConfigReading& reading);
// The same for one of the names under kind.names_key. REQUIRES: a bare key of TOML.
void apply_table_name(const TableKind& kind, std::string_view table, std::string_view name,
                      const std::string& value, ConfigReading& reading);

// When all that sets something has been read: what a table lacks, and what does not go together.
void check_tables(Language language, ConfigReading& reading);

// Their part of the default file, all of it commented.
std::string format_default_tables(Language language);

}  // namespace everywatt::app
