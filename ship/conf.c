// SPDX-License-Identifier: Apache-2.0
//
// Functions say which texts can be a value; a time has more forms than in nvtxtd.conf.
#include "ship/conf.h"

#include <string.h>

#include "protocol/base/utf8.h"
#include "protocol/text/forms.h"
#include "ship/engine/identity.h"
#include "ship/engine/schema.h"

// ---- Values that are not any text ---------------------------------------------------------------

static bool is_text(const char *value) {
    return nvtxt_utf8_valid(nvtxt_slice_of(value));
}

static bool is_host(const char *value) {
    return is_text(value) && strlen(value) < IDENTITY_HOST_SIZE;
}

static bool is_label(const char *value) {
    return *value != '=' && strchr(value, '=') && !strchr(value, '\n') && is_text(value);
}

static bool is_store_id(const char *value) {
    return !*value || nvtxt_uuid_is(value);
}

static bool is_from(const char *value) {
    int64_t ns;
    return strcmp(value, "beginning") == 0 || strcmp(value, "now") == 0 ||
           nvtxt_time_parse(value, &ns);
}

// As other options have it: "1.5s", "1m30s".
static bool read_ms(const char *text, int64_t *ms) {
    int64_t ns;
    bool good = nvtxt_duration_parse(text, &ns);
    *ms = good ? ns / 1000000 : 0;
    return good;
}

// ---- The table ----------------------------------------------------------------------------------

#define AT(field) .offset = offsetof(struct ship_conf, field)

static const struct nvtxt_conf_key keys[] = {
    {"Store", NVTXT_CONF_PATH, AT(store), .initial = "", .option = "store"},
    {"Target", NVTXT_CONF_TEXT, AT(target), .initial = "", .option = "target"},
    {"Schema", NVTXT_CONF_TEXT, AT(schema), .initial = "nvtxt", .option = "schema",
     .is_good = schema_name_is_good,
     .wanted =
         "a name of at most 58 lower case letters, digits and _ (those of roles are longer), not "
         "with a digit or pg_ first, and not information_schema,"},
    {"Host", NVTXT_CONF_TEXT, AT(host), .initial = "", .option = "host", .is_good = is_host,
     .wanted = "at most 255 bytes of UTF-8"},
    {"Label", NVTXT_CONF_TEXTS, AT(labels), .initial = "", .option = "label", .is_good = is_label,
     .wanted = "KEY=VALUE in UTF-8"},
    {"StoreId", NVTXT_CONF_TEXT, AT(store_id), .initial = "", .option = "store-id",
     .is_good = is_store_id, .wanted = "a UUID"},
    {"From", NVTXT_CONF_TEXT, AT(from), .initial = "beginning", .option = "from",
     .is_good = is_from, .wanted = "beginning, now or a time"},
    {"Interval", NVTXT_CONF_DURATION, AT(interval_ms), 50, 3600000, .initial = "1s",
     .option = "interval", .read_ms = read_ms},
    {"LeaseTime", NVTXT_CONF_DURATION, AT(lease_ms), 1000, 3600000, .initial = "30s",
     .option = "lease", .read_ms = read_ms},
    {"ConnectTimeout", NVTXT_CONF_DURATION, AT(connect_timeout_ms), 50, 3600000, .initial = "10s",
     .option = "connect-timeout", .read_ms = read_ms},
    {"Position", NVTXT_CONF_PATH, AT(position), .initial = "/var/lib/nvtxt-ship/position"},
    {"OpenRanges", NVTXT_CONF_CHOICE, AT(open_ranges), .choices = "no|yes", .initial = "yes"},
    {"LogLevel", NVTXT_CONF_CHOICE, AT(log_level), .choices = "error|warning|info|debug",
     .initial = "info"},
};

const struct nvtxt_conf_table ship_conf_table = {keys, sizeof(keys) / sizeof(keys[0]),
                                                 "leave the option out, or give it a value"};

int ship_conf_init(struct ship_conf *conf) {
    *conf = (struct ship_conf){0};
    return nvtxt_conf_init(&ship_conf_table, conf);
}

void ship_conf_deinit(struct ship_conf *conf) {
    nvtxt_conf_deinit(&ship_conf_table, conf);
}
