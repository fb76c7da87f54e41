// SPDX-License-Identifier: Apache-2.0
//
// Prints what the tables of report/ promise (nvtxt-compat(7)), as core_tables.c does: fields of
// section and rule files, metrics, reports with their columns, rules, codes of faults in files.
#include <stdio.h>

#include "report/catalogue/catalogue.h"
#include "report/render/render_metric.h"
#include "report/rule/rules.h"
#include "report/rule/rules_state.h"
#include "report/rule/sql_guard.h"
#include "report/section/section.h"
#include "report/serve/objects.h"
#include "report/stats/reports.h"
#include "report/text/message.h"

static const char *const types[] = {
    [REPORT_FIELD_STRING] = "string",   [REPORT_FIELD_UINT32] = "uint32",
    [REPORT_FIELD_INT64] = "int64",     [REPORT_FIELD_DOUBLE] = "double",
    [REPORT_FIELD_BOOL] = "bool",       [REPORT_FIELD_ENUM] = "enum",
    [REPORT_FIELD_ARCH] = "arch",       [REPORT_FIELD_MESSAGE] = "message",
    [REPORT_FIELD_SKIPPED] = "ignored",
};

static void print_type(const char *file, const struct report_message_type *type) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        bool nested = field->type == REPORT_FIELD_MESSAGE;
        printf("files\t%s %s.%s: %s%s%s\n", file, type->name, field->name, types[field->type],
               nested ? " " : "", nested ? field->message->name : "");
        if (field->required || field->repeated) {
            printf("files\t%s %s.%s number: %s\n", file, type->name, field->name,
                   field->required ? "exactly one" : "any");
        }
        for (size_t j = 0; field->type == REPORT_FIELD_ENUM && field->values[j].name; j++) {
            printf("files\t%s %s.%s %s: value\n", file, type->name, field->name,
                   field->values[j].name);
        }
    }
}

static void print_catalogue(void) {
    const struct report_catalogue_entry *entry;
    for (size_t i = 0; (entry = report_catalogue_at(i)); i++) {
        printf("metrics\treport %s: %s, unit %s%s\n", entry->name, report_type_name(entry->type),
               *entry->unit ? entry->unit : "none",
               entry->always_keyed ? ", always with a key" : "");
        struct nvtxt_slice word;
        for (unsigned j = 0; (word = report_catalogue_word(entry->rollups, j)).data; j++) {
            printf("metrics\treport %s roll-up %.*s: word\n", entry->name, (int)word.len,
                   word.data);
        }
        for (unsigned j = 0; (word = report_catalogue_word(entry->keys, j)).data; j++) {
            printf("metrics\treport %s key %.*s: word\n", entry->name, (int)word.len, word.data);
        }
    }
    for (size_t i = 0; i < report_event_metric_count(); i++) {
        struct report_event_metric_row row = report_event_metric_row(i);
        printf("metrics\tevent %s: %s, unit %s, of %s\n", row.name, report_type_name(row.type),
               *row.unit ? row.unit : "none", row.of);
    }
}

static void print_reports(void) {
    for (size_t i = 0; i < report_stats_report_count; i++) {
        const struct report_stats_report *report = &report_stats_reports[i];
        for (size_t j = 0; j < report->column_count; j++) {
            printf("files\tstats %s %s: column %zu\n", report->name, report->columns[j].title,
                   j + 1);
        }
    }
}

int main(void) {
    for (size_t i = 0; report_section_types[i]; i++) {
        print_type("section", report_section_types[i]);
    }
    for (size_t i = 0; report_rule_types[i]; i++) {
        print_type("rule", report_rule_types[i]);
    }
    for (size_t i = 0; report_sql_functions[i]; i++) {
        printf("files\trule query %s: function\n", report_sql_functions[i]);
    }
    print_catalogue();
    print_reports();
    for (const struct report_message_code *code = report_message_codes; code->name; code++) {
        printf("codes\tfiles %s: code\n", code->name);
    }
    return 0;
}
