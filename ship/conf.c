// SPDX-License-Identifier: Apache-2.0
//
// A key's row says where its field is, of which type, and what its values may be; setting and
// freeing go through it.
#include "ship/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/utf8.h"
#include "protocol/conf/conf_value.h"
#include "protocol/text/times.h"
#include "protocol/text/uuid.h"
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

// ---- The table ----------------------------------------------------------------------------------

#define AT(field) offsetof(struct ship_conf, field)

const struct ship_key ship_keys[] = {
    {"Store", "store", SHIP_PATH, AT(store), .initial = ""},
    {"Target", "target", SHIP_TEXT, AT(target), .initial = ""},
    {"Schema", "schema", SHIP_TEXT, AT(schema), .initial = "nvtxt", .is_good = schema_name_is_good,
     .why =
         "a name of at most 58 lower case letters, digits and _ (those of roles are longer), not "
         "with a digit or pg_ first, and not information_schema,"},
    {"Host", "host", SHIP_TEXT, AT(host), .initial = "", .is_good = is_host,
     .why = "at most 255 bytes of UTF-8"},
    {"Label", "label", SHIP_LIST, AT(labels), .initial = "", .is_good = is_label,
     .why = "KEY=VALUE in UTF-8"},
    {"StoreId", "store-id", SHIP_TEXT, AT(store_id), .initial = "", .is_good = is_store_id,
     .why = "a UUID"},
    {"From", "from", SHIP_TEXT, AT(from), .initial = "beginning", .is_good = is_from,
     .why = "beginning, now or a time"},
    {"Interval", "interval", SHIP_DURATION, AT(interval_ms), 50, 3600000, .initial = "1s"},
    {"LeaseTime", "lease", SHIP_DURATION, AT(lease_ms), 1000, 3600000, .initial = "30s"},
    {"ConnectTimeout", "connect-timeout", SHIP_DURATION, AT(connect_timeout_ms), 50, 3600000,
     .initial = "10s"},
    {"Position", NULL, SHIP_PATH, AT(position), .initial = "/var/lib/nvtxt-ship/position"},
    {"OpenRanges", NULL, SHIP_CHOICE, AT(open_ranges), .choices = "no|yes", .initial = "yes"},
    {"LogLevel", NULL, SHIP_CHOICE, AT(log_level), .choices = "error|warning|info|debug",
     .initial = "info"},
};
const size_t ship_key_count = sizeof(ship_keys) / sizeof(ship_keys[0]);

static void *field_of(struct ship_conf *conf, const struct ship_key *key) {
    return (char *)conf + key->offset;
}

static bool has_text(const struct ship_key *key) {
    return key->type == SHIP_TEXT || key->type == SHIP_PATH || key->type == SHIP_LIST;
}

// ---- Setting ------------------------------------------------------------------------------------

// As in nvtxtd.conf, and as other options have it: "1.5s", "1m30s".
static bool read_duration(const char *text, int64_t *ms) {
    int64_t ns;
    if (nvtxt_conf_number(text, nvtxt_conf_durations, ms)) {
        return true;
    }
    bool good = nvtxt_duration_parse(text, &ns);
    *ms = good ? ns / 1000000 : 0;
    return good;
}

static int set_duration(int64_t *field, const struct ship_key *key, const char *value, char *why,
                        size_t size) {
    int64_t ms;
    if (read_duration(value, &ms) && ms >= key->min && ms <= key->max) {
        *field = ms;
        return 0;
    }
    nvtxt_conf_expect_duration(key->min, key->max, why, size);
    return 1;
}

static int set_text(char **field, const struct ship_key *key, const char *value, char *why,
                    size_t size) {
    bool is_list = key->type == SHIP_LIST;
    bool clears = is_list && !*value;
    if (!clears && key->is_good && !key->is_good(value)) {
        snprintf(why, size, "%s is expected", key->why);
        return 1;
    }
    return nvtxt_conf_set_text(field, value, is_list);
}

int ship_conf_set(struct ship_conf *conf, const struct ship_key *key, const char *value, char *why,
                  size_t size) {
    void *field = field_of(conf, key);
    switch (key->type) {
    case SHIP_DURATION:
        return set_duration(field, key, value, why, size);
    case SHIP_CHOICE:
        return nvtxt_conf_set_choice(field, key->choices, value, why, size);
    default:
        return set_text(field, key, value, why, size);
    }
}

const struct ship_key *ship_conf_find(const char *name) {
    for (size_t i = 0; i < ship_key_count; i++) {
        if (strcmp(ship_keys[i].name, name) == 0) {
            return &ship_keys[i];
        }
    }
    return NULL;
}

int ship_conf_init(struct ship_conf *conf) {
    char why[256];
    *conf = (struct ship_conf){0};
    for (size_t i = 0; i < ship_key_count; i++) {
        if (ship_conf_set(conf, &ship_keys[i], ship_keys[i].initial, why, sizeof(why)) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void ship_conf_deinit(struct ship_conf *conf) {
    for (size_t i = 0; i < ship_key_count; i++) {
        if (has_text(&ship_keys[i])) {
            free(*(char **)field_of(conf, &ship_keys[i]));
        }
    }
    *conf = (struct ship_conf){0};
}
