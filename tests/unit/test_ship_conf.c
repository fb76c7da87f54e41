// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "ship/conf.h"
#include "ship/engine/schema.h"

static int set(struct ship_conf *conf, const char *key, const char *value) {
    char why[256];
    return nvtxt_conf_set(conf, nvtxt_conf_find(&ship_conf_table, key), value, why, sizeof(why));
}

Test(ship_conf, has_the_defaults_of_the_manual) {
    struct ship_conf conf;
    cr_assert_eq(ship_conf_init(&conf), 0);
    cr_assert_str_eq(conf.schema, "nvtxt");
    cr_assert_str_eq(conf.from, "beginning");
    cr_assert_str_eq(conf.position, "/var/lib/nvtxt-ship/position");
    cr_assert_eq(conf.interval_ms, 1000);
    cr_assert_eq(conf.lease_ms, 30000);
    cr_assert_eq(conf.connect_timeout_ms, 10000);
    cr_assert_eq(conf.open_ranges, 1);
    cr_assert_eq(conf.log_level, SHIP_LOG_INFO);
    ship_conf_deinit(&conf);
}

Test(ship_conf, takes_texts_that_an_engine_can_hold) {
    struct ship_conf conf;
    char host[257];
    memset(host, 'h', sizeof(host));
    host[256] = '\0';
    cr_assert_eq(ship_conf_init(&conf), 0);
    cr_assert_eq(set(&conf, "Host", host), 1);
    cr_assert_eq(set(&conf, "Host", host + 1), 0);
    cr_assert_eq(set(&conf, "Label", "a=\xff"), 1);
    cr_assert_eq(set(&conf, "Label", "a=\xc3\xbc"), 0);
    ship_conf_deinit(&conf);
}

Test(ship_conf, takes_values_within_their_bounds_only) {
    static const struct {
        const char *key, *value;
        int result;
    } cases[] = {
        {"Interval", "50ms", 0},
        {"Interval", "49ms", 1},
        {"Interval", "1h", 0},
        {"Interval", "3601", 1},
        {"Interval", "0.5s", 0},
        {"Interval", "-1s", 1},
        {"Interval", "", 1},
        {"LeaseTime", "999ms", 1},
        {"LeaseTime", "2min", 0},
        {"LeaseTime", "1d", 1},
        {"Schema", "a_1", 0},
        {"Schema", "1a", 1},
        {"Schema", "A", 1},
        {"Schema", "", 1},
        {"Schema", "a\"b", 1},
        {"Label", "rack=7", 0},
        {"Label", "=7", 1},
        {"Label", "rack", 1},
        {"Label", "a\n=7", 1},
        {"Host", "\xff", 1},
        {"Host", "\xc3\xbc", 0},
        {"From", "beginning", 0},
        {"From", "now", 0},
        {"From", "2026-11-21", 0},
        {"From", "yesterday", 1},
        {"OpenRanges", "no", 0},
        {"OpenRanges", "maybe", 1},
        {"LogLevel", "debug", 0},
        {"LogLevel", "loud", 1},
        {"StoreId", "", 0},
        {"StoreId", "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001", 0},
        {"StoreId", "0190c0f6", 1},
        {"Interval", "99999999999999999999h", 1},
    };
    struct ship_conf conf;
    cr_assert_eq(ship_conf_init(&conf), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_eq(set(&conf, cases[i].key, cases[i].value), cases[i].result, "%s=%s",
                     cases[i].key, cases[i].value);
    }
    ship_conf_deinit(&conf);
}

Test(ship_conf, collects_labels_until_an_empty_one) {
    struct ship_conf conf;
    cr_assert_eq(ship_conf_init(&conf), 0);
    set(&conf, "Label", "a=1");
    set(&conf, "Label", "b=2");
    cr_assert_str_eq(conf.labels, "a=1\nb=2");
    set(&conf, "Label", "");
    set(&conf, "Label", "c=3");
    cr_assert_str_eq(conf.labels, "c=3");
    ship_conf_deinit(&conf);
}

Test(ship_schema, puts_its_name_everywhere) {
    struct nvtxt_buf sql = {0};
    schema_write(&sql, "team_a", &(struct schema_wishes){.keep_days = 7});
    nvtxt_buf_add(&sql, "", 1);
    cr_assert_not(nvtxt_buf_failed(&sql));
    cr_assert_not_null(strstr(sql.data, "CREATE SCHEMA IF NOT EXISTS \"team_a\""));
    cr_assert_not_null(strstr(sql.data, "'team_a_ship'"));
    cr_assert_not_null(strstr(sql.data, "keep_days = 7"));
    cr_assert_not_null(strstr(sql.data, "PARTITION BY RANGE"));
    cr_assert_not_null(strstr(sql.data, "TRIGGER own_rows"));
    for (const char *at = sql.data; (at = strstr(at, "nvtxt")); at += 5) {
        cr_assert(strncmp(at, "nvtxt-", 6) == 0, "%.40s", at); // the programs, in comments
    }
    nvtxt_buf_deinit(&sql);
}

Test(ship_schema, leaves_out_what_is_not_wished) {
    struct nvtxt_buf sql = {0};
    schema_write(&sql, "nvtxt", &(struct schema_wishes){.plain_events = true, .no_roles = true});
    nvtxt_buf_add(&sql, "", 1);
    cr_assert_null(strstr(sql.data, "PARTITION BY"));
    cr_assert_null(strstr(sql.data, "TRIGGER own_rows"));
    cr_assert_null(strstr(sql.data, "CREATE ROLE"));
    cr_assert_not_null(strstr(sql.data, "VIEW \"nvtxt\".timeline AS"));
    nvtxt_buf_deinit(&sql);
}
