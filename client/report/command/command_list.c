// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report list`: what there is, by kind. Each kind adds its items, whose values become
// members of JSON or, in the same order, cells of a table; what needs no file (metrics of the
// catalogue, reports) comes without messages.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/command/judging.h"
#include "client/report/command/wanted_metrics.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "report/catalogue/catalogue.h"
#include "report/render/render_metric.h"
#include "report/table/plain.h"

// What --section, --set, --rule and --metrics leave of a list; without them all of it.
struct listing {
    struct report_job *job;
    struct report_loaded *loaded;
    const struct report_chosen *chosen;  // NULL: all sections
    const struct wanted_metrics *wanted; // NULL: all metrics
    struct report_table *table;          // for people; NULL: JSON
    struct report_json *json;
    struct report_cell *cell; // the next of the item; NULL: short of memory
    struct nvtxt_buf values;  // of the next cell
    int error;                // 0 or -ENOMEM
};

struct kind {
    const char *name;
    bool from_files;
    bool paragraphs; // its texts are too long for columns
    const struct report_column *columns;
    size_t column_count;
    void (*list)(struct listing *listing);
};

// --- items

static void add_cell(struct listing *listing, struct report_cell cell) {
    if (listing->cell) {
        *listing->cell++ = cell;
    }
}

static void add_slice(struct listing *listing, const char *name, struct nvtxt_slice value) {
    if (listing->json) {
        report_json_slice(listing->json, name, value);
    } else {
        add_cell(listing, report_cell_copy(listing->table, value));
    }
}

static void add_text(struct listing *listing, const char *name, const char *value) {
    add_slice(listing, name, nvtxt_slice_of(value));
}

// A value that no column shows.
static void add_member(struct listing *listing, const char *name, struct nvtxt_slice value) {
    if (listing->json) {
        report_json_slice(listing->json, name, value);
    }
}

// An array, or a cell with commas, of what add_value() gets until end_values().
static void begin_values(struct listing *listing, const char *name) {
    nvtxt_buf_clear(&listing->values);
    if (listing->json) {
        report_json_array(listing->json, name);
    }
}

static void add_value(struct listing *listing, struct nvtxt_slice value) {
    add_member(listing, NULL, value);
    nvtxt_buf_add_string(&listing->values, listing->values.len > 0 ? ", " : "");
    nvtxt_buf_add(&listing->values, value.data, value.len);
}

static void end_values(struct listing *listing) {
    if (listing->json) {
        report_json_end_array(listing->json);
    } else {
        struct nvtxt_slice text = {listing->values.data, listing->values.len};
        listing->table->failed |= nvtxt_buf_failed(&listing->values);
        add_cell(listing, report_cell_copy(listing->table, text));
    }
}

// `file` NULL is a part of the program.
static void add_file(struct listing *listing, const struct report_file *file,
                     const struct report_file *hidden_by) {
    char text[2 * PATH_MAX + 32];
    const char *shown = file ? report_file_shown(file) : "(built in)";
    if (listing->json) {
        report_json_text(listing->json, "file", file ? file->path : NULL);
        report_json_text(listing->json, "hiddenBy", hidden_by ? hidden_by->path : NULL);
        return;
    }
    if (hidden_by) {
        snprintf(text, sizeof(text), "%s, hidden by %s", shown, report_file_shown(hidden_by));
    }
    add_text(listing, NULL, hidden_by ? text : shown);
}

static void begin_item(struct listing *listing) {
    if (listing->json) {
        report_json_object(listing->json, NULL);
    } else {
        listing->cell = report_table_row(listing->table);
    }
}

static void end_item(struct listing *listing) {
    if (listing->json) {
        report_json_end_object(listing->json);
    }
}

// --- sections

static bool is_listed(const struct listing *listing, const struct report_section_entry *entry) {
    return !listing->chosen || report_chosen_has(listing->chosen, entry->section->identifier.text);
}

static void add_section(struct listing *listing, const struct report_section_entry *entry) {
    const struct report_section *section = entry->section;
    begin_item(listing);
    add_slice(listing, "identifier", section->identifier.text);
    add_slice(listing, "displayName", section->display_name.text);
    if (listing->json) {
        report_json_int(listing->json, "order", section->order.integer);
    } else {
        add_cell(listing, report_cell_int(section->order.integer));
    }
    begin_values(listing, "sets");
    for (size_t i = 0; i < section->sets.count; i++) {
        const struct report_section_set *set = section->sets.items[i];
        add_value(listing, set->identifier.text);
    }
    end_values(listing);
    add_member(listing, "extends", section->extends.text);
    add_file(listing, entry->file, entry->hidden_by);
    end_item(listing);
}

static void list_sections(struct listing *listing) {
    const struct report_sections *sections = &listing->loaded->sections;
    for (size_t i = 0; i < sections->count; i++) {
        if (is_listed(listing, &sections->entries[i])) {
            add_section(listing, &sections->entries[i]);
        }
    }
}

// --- sets

static int compare_names(const void *a, const void *b) {
    const struct nvtxt_slice *x = a, *y = b;
    return strcmp(x->data, y->data);
}

// The names of all sets, bytewise, each once.
static int collect_sets(const struct report_sections *sections, struct nvtxt_slice **names,
                        size_t *count) {
    size_t room = 1;
    for (size_t i = 0; i < sections->count; i++) {
        room += sections->entries[i].hidden_by ? 0 : sections->entries[i].section->sets.count;
    }
    *count = 0;
    *names = calloc(room, sizeof(**names));
    for (size_t i = 0; i < sections->count && *names; i++) {
        const struct report_list *sets = &sections->entries[i].section->sets;
        for (size_t j = 0; j < sets->count && !sections->entries[i].hidden_by; j++) {
            (*names)[(*count)++] =
                ((const struct report_section_set *)sets->items[j])->identifier.text;
        }
    }
    if (!*names) {
        return nvtxt_origin(-ENOMEM);
    }
    qsort(*names, *count, sizeof(**names), compare_names);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || !nvtxt_slice_equal((*names)[i], (*names)[kept - 1])) {
            (*names)[kept++] = (*names)[i];
        }
    }
    *count = kept;
    return 0;
}

static void add_set(struct listing *listing, struct nvtxt_slice name) {
    const struct report_sections *sections = &listing->loaded->sections;
    begin_item(listing);
    add_slice(listing, "name", name);
    begin_values(listing, "sections");
    for (size_t i = 0; i < sections->count; i++) {
        const struct report_section_entry *entry = &sections->entries[i];
        if (!entry->hidden_by && is_listed(listing, entry) &&
            report_section_has_set(entry->section, name)) {
            add_value(listing, entry->section->identifier.text);
        }
    }
    end_values(listing);
    end_item(listing);
}

static void list_sets(struct listing *listing) {
    struct nvtxt_slice *names;
    size_t count;
    listing->error = collect_sets(&listing->loaded->sections, &names, &count);
    for (size_t i = 0; i < count; i++) {
        add_set(listing, names[i]);
    }
    free(names);
}

// --- rules

static void list_rules(struct listing *listing) {
    for (size_t i = 0; i < report_rules_count(listing->loaded->rules); i++) {
        struct report_rule_row row = report_rules_row(listing->loaded->rules, i);
        begin_item(listing);
        add_slice(listing, "identifier", row.identifier);
        add_slice(listing, "name", row.name);
        add_member(listing, "description", row.description);
        add_slice(listing, "section", row.section);
        add_text(listing, "kind", report_rule_kind_name(row.kind));
        add_file(listing, row.file, row.hidden_by);
        end_item(listing);
    }
}

// --- metrics

// An array of words; for people the text that lists them.
static void add_words(struct listing *listing, const char *name, const char *words) {
    struct nvtxt_slice word;
    if (!listing->json) {
        add_text(listing, name, words);
        return;
    }
    report_json_array(listing->json, name);
    for (unsigned i = 0; (word = report_catalogue_word(words, i)).data; i++) {
        report_json_slice(listing->json, NULL, word);
    }
    report_json_end_array(listing->json);
}

// Whether --metrics asks for a metric of that entry.
static bool is_wanted(const struct wanted_metrics *wanted,
                      const struct report_catalogue_entry *entry) {
    for (size_t i = 0; wanted && i < wanted->count; i++) {
        struct report_catalogue_metric metric;
        if (report_catalogue_find(nvtxt_slice_of(wanted->metrics[i]->name), &metric) &&
            metric.entry == entry) {
            return true;
        }
    }
    return !wanted;
}

static void list_metrics(struct listing *listing) {
    const struct report_catalogue_entry *entry;
    for (size_t i = 0; (entry = report_catalogue_at(i)); i++) {
        if (!is_wanted(listing->wanted, entry)) {
            continue;
        }
        begin_item(listing);
        add_text(listing, "name", entry->name);
        add_text(listing, "unit", entry->unit);
        add_text(listing, "type", report_type_name(entry->type));
        add_words(listing, "rollups", entry->rollups);
        add_words(listing, "keys", entry->keys);
        add_text(listing, "description", entry->text);
        end_item(listing);
    }
}

// --- reports

static void list_reports(struct listing *listing) {
    for (size_t i = 0; i < report_stats_report_count; i++) {
        const struct report_stats_report *report = &report_stats_reports[i];
        begin_item(listing);
        add_text(listing, "name", report->name);
        begin_values(listing, "columns");
        for (size_t j = 0; j < report->column_count; j++) {
            add_value(listing, nvtxt_slice_of(report->columns[j].title));
        }
        end_values(listing);
        end_item(listing);
    }
}

// --- all kinds

static const struct report_column section_columns[] = {REPORT_T("Identifier"),
                                                       REPORT_T("Display Name"), REPORT_I("Order"),
                                                       REPORT_T("Sets"), REPORT_T("Filename")};
static const struct report_column set_columns[] = {REPORT_T("Set"), REPORT_T("Sections")};
static const struct report_column rule_columns[] = {REPORT_T("Identifier"), REPORT_T("Name"),
                                                    REPORT_T("Section"), REPORT_T("Kind"),
                                                    REPORT_T("Filename")};
static const struct report_column metric_columns[] = {REPORT_T("Name"), REPORT_T("Unit"),
                                                      REPORT_T("Type"), REPORT_T("Roll-ups"),
                                                      REPORT_T("Keys"), REPORT_T("Description")};
static const struct report_column report_columns[] = {REPORT_T("Report"), REPORT_T("Columns")};

#define COLUMNS(columns) columns, sizeof(columns) / sizeof(columns[0])

static const struct kind kinds[] = {
    {"sections", true, false, COLUMNS(section_columns), list_sections},
    {"sets", true, true, COLUMNS(set_columns), list_sets},
    {"rules", true, false, COLUMNS(rule_columns), list_rules},
    {"metrics", false, true, COLUMNS(metric_columns), list_metrics},
    {"reports", false, true, COLUMNS(report_columns), list_reports},
};

static const char *kind_name(const void *context, size_t index) {
    (void)context;
    return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index].name : NULL;
}

static const struct kind *find_kind(const struct report_job *job) {
    const char *word = job->options->words.words[0];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, word) == 0) {
            return &kinds[i];
        }
    }
    const char *near = nvtxt_near(nvtxt_slice_of(word), kind_name, NULL);
    term_say(job->term,
             near ? "there is no list of '%s'; did you mean '%s'?"
                  : "there is no list of '%s': there are sections, sets, rules, metrics, reports",
             word, near);
    return NULL;
}

static void write_messages(struct report_job *job, const struct report_loaded *loaded) {
    for (size_t i = 0; i < loaded->messages.count; i++) {
        struct nvtxt_buf line = {0};
        nvtxt_buf_add_string(&line, i == 0 ? "\n" : "");
        report_message_write(&line, &loaded->messages.items[i]);
        nvtxt_buf_add_string(&line, "\n");
        nvtxt_out_bytes(&job->out, line.data, line.len);
        nvtxt_buf_deinit(&line);
    }
    if (loaded->sections.failed > 0) {
        nvtxt_out_uint(&job->out, loaded->sections.failed);
        NVTXT_OUT_LITERAL(&job->out, " section files could not be loaded\n");
    }
    if (loaded->rules && report_rules_failed(loaded->rules) > 0) {
        nvtxt_out_uint(&job->out, report_rules_failed(loaded->rules));
        NVTXT_OUT_LITERAL(&job->out, " rule files could not be loaded\n");
    }
}

#define PAGE_WIDTH 80 // or the screen, if that is narrower
#define INDENT 4

// Words with one blank between them, in lines of the page's width.
static void write_wrapped(struct nvtxt_out *out, size_t *column, struct nvtxt_slice text) {
    const struct report_screen *screen = report_screen_of(out);
    size_t most = screen ? nvtxt_min(screen->width, PAGE_WIDTH) : PAGE_WIDTH;
    for (size_t at = 0; at < text.len;) {
        const char *blank = memchr(text.data + at, ' ', text.len - at);
        size_t end = blank ? (size_t)(blank - text.data) : text.len;
        struct nvtxt_slice word = {text.data + at, end - at};
        size_t width = report_plain_width(word);
        bool fresh = *column == 0;
        if (!fresh && *column + 1 + width > most) {
            NVTXT_OUT_LITERAL(out, "\n");
            fresh = true;
        }
        report_plain_blanks(out, fresh ? INDENT : 1);
        report_plain_text(out, word);
        *column = (fresh ? INDENT : *column + 1) + width;
        at = end + 1;
    }
}

// An item a paragraph: its name, then what else is known of it.
static void write_paragraphs(struct nvtxt_out *out, const struct report_table *table,
                             const struct report_table_view *view) {
    for (size_t i = 0; i < report_table_rows(table, view); i++) {
        const struct report_cell *cells = table->cells + i * table->column_count;
        report_plain_text(out, report_cell_slice(&cells[0]));
        NVTXT_OUT_LITERAL(out, "\n");
        for (size_t j = 1; j < table->column_count; j++) {
            size_t column = 0;
            if (cells[j].text_len == 0) {
                continue;
            }
            // The last column explains itself.
            if (j + 1 < table->column_count) {
                write_wrapped(out, &column, nvtxt_slice_of(table->columns[j].title));
                NVTXT_OUT_LITERAL(out, ":");
                column++;
            }
            write_wrapped(out, &column, report_cell_slice(&cells[j]));
            NVTXT_OUT_LITERAL(out, "\n");
        }
    }
    report_table_put_more(out, table, view);
}

static int write_table(struct report_job *job, struct listing *listing, const struct kind *kind) {
    struct report_table table;
    report_table_init(&table, kind->name, kind->columns, kind->column_count);
    listing->table = &table;
    kind->list(listing);
    int r = table.failed ? nvtxt_origin(-ENOMEM) : listing->error;
    if (r == 0 && job->options->format == REPORT_TEXT && kind->paragraphs) {
        const struct report_table_view view = report_job_view(job);
        write_paragraphs(&job->out, &table, &view);
    } else if (r == 0) {
        report_job_table(job, &table);
    }
    report_table_deinit(&table);
    if (r == 0) {
        write_messages(job, listing->loaded);
    }
    return r;
}

static int write_json(struct report_job *job, struct listing *listing, const struct kind *kind) {
    struct report_json json;
    listing->json = &json;
    report_json_begin(&json, &job->out, "list");
    report_json_text(&json, "what", kind->name);
    report_json_array(&json, "items");
    kind->list(listing);
    report_json_end_array(&json);
    report_render_messages_json(&json, &listing->loaded->messages);
    report_json_end(&json);
    return listing->error;
}

static int write_list(struct listing *listing, const struct kind *kind) {
    struct report_job *job = listing->job;
    int r = report_files_sort_messages(&listing->loaded->files, &listing->loaded->messages);
    if (r == 0) {
        r = job->options->format == REPORT_JSON ? write_json(job, listing, kind)
                                                : write_table(job, listing, kind);
        report_loaded_raise(listing->loaded, job);
    }
    nvtxt_buf_deinit(&listing->values);
    return r;
}

// Sections, sets and rules come from files.
static int list_files(struct report_job *job, const struct kind *kind,
                      struct report_loaded *loaded) {
    const struct report_options *options = job->options;
    struct report_chosen chosen = {0};
    bool some = options->sections.count > 0 || options->sets.count > 0;
    struct listing listing = {.job = job, .loaded = loaded, .chosen = some ? &chosen : NULL};
    int r = report_sections_warn(&loaded->sections, loaded->definitions, &loaded->messages);
    r = r == 0 && some ? report_loaded_choose(loaded, job, &chosen) : r;
    r = r ?: report_judging_check(job, loaded);
    r = r ?: write_list(&listing, kind);
    report_chosen_deinit(&chosen);
    return r;
}

// Metrics and reports are part of the program; files are needed only for a group of metrics.
static int list_others(struct report_job *job, const struct kind *kind,
                       struct report_loaded *loaded) {
    struct wanted_metrics wanted = {0};
    bool some = job->options->metrics.count > 0;
    struct listing listing = {.job = job, .loaded = loaded, .wanted = some ? &wanted : NULL};
    int r = some ? report_loaded_open(loaded, job) : 0;
    r = r == 0 && some ? wanted_metrics_init(&wanted, job, loaded) : r;
    r = r ?: write_list(&listing, kind);
    wanted_metrics_deinit(&wanted);
    return r;
}

int report_command_list(struct report_job *job) {
    const struct kind *kind = find_kind(job);
    if (!kind) {
        return OUTCOME_USAGE;
    }
    struct report_loaded loaded = {0};
    int r = kind->from_files ? report_loaded_open(&loaded, job) : 0;
    r = r ?: kind->from_files ? list_files(job, kind, &loaded) : list_others(job, kind, &loaded);
    report_loaded_close(&loaded);
    return r;
}
