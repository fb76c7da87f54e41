// SPDX-License-Identifier: Apache-2.0
//
// Makes the manual pages of nvtxt-report from their templates, as fill-page does with the others:
//
//   {{fields Findings}}      the items of a list of the fields of a message of sections or rules
//   {{metrics}}              the items of a list of the metrics of the catalogue
//   {{event-metrics}}        the items of a list of the metrics of an event
//   {{reports}}              the items of a list of the reports of `stats`, with their columns
//   {{rules}}                the items of a list of the rules of the package
//   {{sql-functions}}        the functions that queries of rules may use
//   {{section-fields}}       the messages of a section file, each with a table of its fields
//   {{codes}}                the items of a list of the codes of messages about files
//
// Not installed.
#include <stdio.h>
#include <string.h>

#include "man/template.h"
#include "report/catalogue/catalogue.h"
#include "report/render/render_metric.h"
#include "report/rule/rules.h"
#include "report/rule/rules_state.h"
#include "report/rule/sql_guard.h"
#include "report/section/section.h"
#include "report/serve/objects.h"
#include "report/stats/reports.h"
#include "report/text/files.h"
#include "report/text/message.h"

static void fill_reports(const char *name) {
    (void)name;
    for (size_t i = 0; i < report_stats_report_count; i++) {
        const struct report_stats_report *report = &report_stats_reports[i];
        printf(".It Cm %s\n", report->name);
        for (size_t j = 0; j < report->column_count; j++) {
            template_put(report->columns[j].title);
            puts(j + 1 < report->column_count ? "," : ".");
        }
    }
}

static const char *const type_words[] = {
    [REPORT_FIELD_STRING] = "string",    [REPORT_FIELD_UINT32] = "uint32",
    [REPORT_FIELD_INT64] = "int64",      [REPORT_FIELD_DOUBLE] = "double",
    [REPORT_FIELD_BOOL] = "bool",        [REPORT_FIELD_ENUM] = "enum",
    [REPORT_FIELD_ARCH] = "CC_NN or NN", [REPORT_FIELD_MESSAGE] = "message",
    [REPORT_FIELD_SKIPPED] = "ignored",
};

static const struct report_message_type *find_type(const char *name) {
    const struct report_message_type *const *lists[] = {report_rule_types, report_section_types};
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; lists[list][i]; i++) {
            if (strcmp(lists[list][i]->name, name) == 0) {
                return lists[list][i];
            }
        }
    }
    template_fail("no message '%s'", name);
}

static void put_type(const struct report_field *field) {
    fputs(type_words[field->type], stdout);
    for (size_t i = 0; field->type == REPORT_FIELD_ENUM && field->values[i].name; i++) {
        printf("%s %s", i > 0 ? "," : ":", field->values[i].name);
    }
    fputs(field->required ? "; required" : field->repeated ? "; repeated" : "", stdout);
    puts("");
}

static void fill_fields(const char *name) {
    const struct report_message_type *type = find_type(name);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        printf(".It Ic %s\n", field->name);
        put_type(field);
    }
}

static void fill_rules(const char *name) {
    struct report_search_folder folder = {"builtin", false};
    struct report_files files = {0};
    struct report_messages messages = {0};
    struct report_rules *rules = NULL;
    const char *missing;
    (void)name;
    if (report_rules_new(&rules, true) != 0 ||
        report_files_find(&files, &folder, 1, false, &missing) != 0 ||
        report_rules_load(rules, &files, NULL, NULL, NULL, NULL, &messages) != 0 ||
        messages.count > 0) {
        template_fail("the rules of the package cannot be read");
    }
    for (size_t i = 0; i < report_rules_count(rules); i++) {
        struct report_rule_row row = report_rules_row(rules, i);
        printf(".It Ic %s\n", row.identifier.data);
        template_put(row.description.data);
        puts("");
    }
    report_rules_free(rules);
    report_files_deinit(&files);
    report_messages_deinit(&messages);
}

static void fill_sql_functions(const char *name) {
    (void)name;
    for (size_t i = 0; report_sql_functions[i]; i++) {
        printf(".Ql %s%s\n", report_sql_functions[i], report_sql_functions[i + 1] ? " ," : " .");
    }
}

// The words of a list, with commas.
static void put_words(const char *list) {
    struct nvtxt_slice word;
    for (unsigned i = 0; (word = report_catalogue_word(list, i)).data; i++) {
        printf("%s%.*s", i > 0 ? ", " : "", (int)word.len, word.data);
    }
}

static void fill_event_metrics(const char *name) {
    (void)name;
    for (size_t i = 0; i < report_event_metric_count(); i++) {
        struct report_event_metric_row row = report_event_metric_row(i);
        printf(".It Cm %s\n", row.name);
        template_put(row.text);
        printf("\n.br\nOf %s, type %s", row.of, report_type_name(row.type));
        printf(row.unit[0] ? ", unit %s" : "%s", row.unit);
        puts(".");
    }
}

static void fill_metrics(const char *name) {
    (void)name;
    const struct report_catalogue_entry *entry;
    for (size_t i = 0; (entry = report_catalogue_at(i)); i++) {
        printf(".It Cm %s%s", entry->name, entry->always_keyed ? "_per_" : "");
        printf("%s\n", entry->always_keyed ? entry->keys : "");
        template_put(entry->text);
        printf("\n.br\nType %s", report_type_name(entry->type));
        printf(entry->unit[0] ? ", unit %s" : "%s", entry->unit);
        puts(".");
        if (entry->rollups[0]) {
            fputs(entry->keys[0] ? "Roll-ups: " : "Roll-ups, without a key: ", stdout);
            put_words(entry->rollups);
            puts(".");
        }
        if (entry->keys[0] && !entry->always_keyed) {
            fputs("Keys: ", stdout);
            put_words(entry->keys);
            puts(".");
        }
    }
}

static const char *value_of(const struct report_field *field) {
    return field->type == REPORT_FIELD_MESSAGE ? field->message->name : type_words[field->type];
}

static void fill_values(const struct report_field *field) {
    printf("Values of\n.Cm %s :\n", field->name);
    for (const struct report_enum_value *value = field->values; value->name; value++) {
        printf("%s%s\n", value->name, value[1].name ? "," : ".");
    }
}

static void fill_message(const struct report_message_type *type) {
    printf(".Ss %s\n.Bl -column \"MemoryL2CacheEvictPolicyTable\" "
           "\"Timeline.MetricGroups\"\n",
           type->name);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        printf(".It Cm %s Ta %s Ta %s\n", field->name, value_of(field),
               field->required   ? "required"
               : field->repeated ? "repeated"
                                 : "");
    }
    puts(".El");
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        if (field->type == REPORT_FIELD_ENUM) {
            puts(".Pp");
            fill_values(field);
        }
    }
}

static void fill_section_fields(const char *name) {
    (void)name;
    for (size_t i = 0; report_section_types[i]; i++) {
        fill_message(report_section_types[i]);
    }
}

static void fill_codes(const char *name) {
    (void)name;
    for (const struct report_message_code *code = report_message_codes; code->name; code++) {
        printf(".It Li %s\n", code->name);
        template_put(code->text);
        puts("");
    }
}

static const struct template_table tables[] = {
    {"codes", false, fill_codes},
    {"fields", true, fill_fields},
    {"metrics", false, fill_metrics},
    {"event-metrics", false, fill_event_metrics},
    {"reports", false, fill_reports},
    {"rules", false, fill_rules},
    {"section-fields", false, fill_section_fields},
    {"sql-functions", false, fill_sql_functions},
    {0},
};

int main(int argc, char **argv) {
    return template_fill(argc, argv, tables);
}
