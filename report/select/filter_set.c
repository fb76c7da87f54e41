// SPDX-License-Identifier: Apache-2.0
//
// Messages that are the same names of the expressions make a class, found by their row of bits in a
// hash table. There are few classes, so the bits of all messages take little memory.
#include "report/select/filter_set.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"

struct class {
    struct nvtxt_hash_node node;
    uint32_t index;
};

struct builder {
    struct report_filter_set *set;
    struct report_fault *fault;
    struct nvtxt_hash table;
    struct class **classes;
    size_t count, room;
    uint64_t *row; // of the message
};

static void set_bit(uint64_t *row, size_t bit) {
    row[bit / 64] |= UINT64_C(1) << (bit % 64);
}

// ---- Names --------------------------------------------------------------------------------------

static int name_matches(struct builder *builder, const struct report_set_filter *of,
                        const struct report_item *item, struct nvtxt_slice name) {
    return report_item_matches(of->filter, of->exclude, item, name, builder->fault);
}

static struct nvtxt_slice domain_name(const struct report_capture *capture, uint32_t domain) {
    return domain == 0 ? NVTXT_SLICE(REPORT_DEFAULT_DOMAIN) : capture->domains[domain];
}

// ---- Rows ---------------------------------------------------------------------------------------

// Gives the filter its bits, from `bit` on; returns the bit after them.
static size_t lay_out(struct report_set_filter *of, size_t bit) {
    of->first = bit;
    for (size_t i = 0; i < of->filter->count; i++) {
        bit += of->filter->items[i].kind != REPORT_ITEM_MANY;
    }
    of->final = bit;
    return bit + 1;
}

static void set_stack_bits(struct report_filter_set *set, const struct report_set_filter *of) {
    const struct report_filter *filter = of->filter;
    size_t bit = of->first;
    if (!filter->bottom) {
        set_bit(set->stay, bit);
    }
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->items[i].kind == REPORT_ITEM_MANY) {
            set_bit(set->stay, bit);
            continue;
        }
        if (filter->items[i].kind == REPORT_ITEM_ONE) {
            set_bit(set->any, bit);
        }
        bit++;
    }
    if (!filter->top) {
        set_bit(set->stay, bit);
    }
}

// What the filter looks at in a domain that is one of its own.
static void set_domain_bits(struct report_filter_set *set, const struct report_set_filter *of,
                            uint32_t domain) {
    if (!of->filter->is_push_pop) {
        set->has_ranges[domain] = true;
        for (size_t bit = of->first; bit < of->final; bit++) {
            set_bit(set->ranges + domain * set->words, bit);
        }
    } else if (of->first == of->final) { // stars only: any stack, also none
        set_bit(set->always, of->final);
    } else {
        set->has_lanes[domain] = true;
        set_bit(set->lanes + domain * set->words, of->first);
    }
}

static int find_domains(struct builder *builder, const struct report_set_filter *of) {
    struct report_filter_set *set = builder->set;
    const struct report_filter *filter = of->filter;
    // Its domain need not be there: an empty stack is one in each domain.
    if (report_filter_takes_none(filter) && !filter->is_regex) {
        set_bit(set->always, of->final);
        return 0;
    }
    for (uint32_t i = 0; i < set->capture->domain_count; i++) {
        int r = filter->has_domain
                    ? name_matches(builder, of, &filter->domain, domain_name(set->capture, i))
                    : i == 0;
        if (r < 0) {
            return r;
        }
        if (r > 0) {
            set_domain_bits(set, of, i);
        }
    }
    return 0;
}

// ---- Classes ------------------------------------------------------------------------------------

static int add_class(struct builder *builder, uint64_t hash, uint32_t *index) {
    struct report_filter_set *set = builder->set;
    size_t bytes = set->words * sizeof(*set->names);
    size_t room = builder->room, wanted = builder->count + 1;
    int r = nvtxt_grow(&set->names, &room, wanted, bytes);
    r = r ?: nvtxt_grow(&builder->classes, &builder->room, wanted, sizeof(struct class *));
    if (r < 0) {
        return r;
    }
    struct class *class = calloc(1, sizeof(*class));
    if (!class || nvtxt_hash_add(&builder->table, &class->node, hash) != 0) {
        free(class);
        return nvtxt_origin(-ENOMEM);
    }
    *index = class->index = (uint32_t)builder->count;
    memcpy(set->names + builder->count * set->words, builder->row, bytes);
    builder->classes[builder->count++] = class;
    return 0;
}

static int find_class(struct builder *builder, uint32_t *index) {
    struct report_filter_set *set = builder->set;
    size_t bytes = set->words * sizeof(*set->names);
    uint64_t hash = nvtxt_hash_bytes((struct nvtxt_slice){(const char *)builder->row, bytes});
    struct class *found;
    NVTXT_HASH_FIND(found, node, &builder->table, hash,
                    memcmp(set->names + found->index * set->words, builder->row, bytes) == 0);
    if (found) {
        *index = found->index;
        return 0;
    }
    return add_class(builder, hash, index);
}

static int match_message(struct builder *builder, uint32_t message) {
    struct report_filter_set *set = builder->set;
    bool some = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct report_set_filter *of = &set->filters[i];
        size_t bit = of->first;
        for (size_t j = 0; j < of->filter->count; j++) {
            const struct report_item *item = &of->filter->items[j];
            int r = item->kind != REPORT_ITEM_NAME
                        ? 0
                        : name_matches(builder, of, item, set->capture->messages[message]);
            if (r < 0) {
                return r;
            }
            if (r > 0) {
                some = true;
                set_bit(builder->row, bit);
            }
            bit += item->kind != REPORT_ITEM_MANY;
        }
    }
    if (!some) {
        return 0; // class 0
    }
    int r = find_class(builder, &set->classes[message]);
    memset(builder->row, 0, set->words * sizeof(*builder->row));
    return r;
}

static int build_rows(struct builder *builder) {
    struct report_filter_set *set = builder->set;
    uint32_t none;
    int r = find_class(builder, &none); // an empty row: class 0
    for (size_t i = 0; i < set->count && r == 0; i++) {
        if (set->filters[i].filter->is_push_pop) {
            set_stack_bits(set, &set->filters[i]);
        }
        set_bit(set->filters[i].exclude ? set->exclude : set->include, set->filters[i].final);
        r = find_domains(builder, &set->filters[i]);
    }
    for (uint32_t i = 0; i < set->capture->message_count && r == 0; i++) {
        r = match_message(builder, i);
    }
    return r;
}

// ---- The set ------------------------------------------------------------------------------------

static int allocate(struct report_filter_set *set) {
    size_t domains = set->capture->domain_count;
    size_t row = set->words;
    set->stay = calloc(row, sizeof(*set->stay));
    set->any = calloc(row, sizeof(*set->any));
    set->always = calloc(row, sizeof(*set->always));
    set->include = calloc(row, sizeof(*set->include));
    set->exclude = calloc(row, sizeof(*set->exclude));
    set->classes = calloc(set->capture->message_count + 1, sizeof(*set->classes));
    set->lanes = calloc(domains + 1, row * sizeof(*set->lanes));
    set->ranges = calloc(domains + 1, row * sizeof(*set->ranges));
    set->has_lanes = calloc(domains + 1, sizeof(*set->has_lanes));
    set->has_ranges = calloc(domains + 1, sizeof(*set->has_ranges));
    return set->stay && set->any && set->always && set->include && set->exclude && set->classes &&
                   set->lanes && set->ranges && set->has_lanes && set->has_ranges
               ? 0
               : nvtxt_origin(-ENOMEM);
}

static int add_filters(struct report_filter_set *set, const struct report_selection *selection) {
    set->includes = selection->includes_count;
    set->count = selection->includes_count + selection->excludes_count;
    set->filters = calloc(set->count + 1, sizeof(*set->filters));
    size_t bits = 0;
    for (size_t i = 0; set->filters && i < set->count; i++) {
        bool exclude = i >= set->includes;
        set->filters[i].exclude = exclude;
        set->filters[i].filter =
            exclude ? selection->excludes[i - set->includes] : selection->includes[i];
        bits = lay_out(&set->filters[i], bits);
    }
    set->bits = bits;
    set->words = (bits + 63) / 64;
    set->row_at = calloc(bits + 1, sizeof(*set->row_at));
    return set->filters && set->row_at ? 0 : nvtxt_origin(-ENOMEM);
}

// Ranges move a bit up, never beyond the final one.
static void lay_out_rows(struct report_filter_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        const struct report_set_filter *of = &set->filters[i];
        for (size_t bit = of->first; bit <= of->final; bit++) {
            size_t width = of->filter->is_push_pop ? of->final / 64 - bit / 64 + 1 : 0;
            set->row_at[bit + 1] = set->row_at[bit] + width;
        }
    }
}

int report_filter_set_init(struct report_filter_set *set, const struct report_capture *capture,
                           const struct report_selection *selection, struct report_fault *fault) {
    *set = (struct report_filter_set){.capture = capture};
    struct builder builder = {.set = set, .fault = fault};
    fault->column = 0;
    int r = add_filters(set, selection);
    if (r != 0 || set->count == 0) {
        return r;
    }
    lay_out_rows(set);
    builder.row = calloc(set->words, sizeof(*builder.row));
    r = builder.row ? allocate(set) : nvtxt_origin(-ENOMEM);
    r = r ?: build_rows(&builder);
    for (size_t i = 0; i < builder.count; i++) {
        free(builder.classes[i]);
    }
    free(builder.classes);
    free(builder.row);
    nvtxt_hash_deinit(&builder.table);
    return r < 0 && fault->column > 0 ? NVTXT_WRONG : r;
}

void report_filter_set_deinit(struct report_filter_set *set) {
    free(set->filters);
    free(set->row_at);
    free(set->stay);
    free(set->any);
    free(set->always);
    free(set->include);
    free(set->exclude);
    free(set->names);
    free(set->classes);
    free(set->lanes);
    free(set->ranges);
    free(set->has_lanes);
    free(set->has_ranges);
    *set = (struct report_filter_set){0};
}

bool report_filter_has_domain(const struct report_filter_set *set, size_t filter, uint32_t domain) {
    const struct report_set_filter *of = &set->filters[filter];
    return of->first == of->final ||
           report_bit(report_filter_set_row(set, of->filter->is_push_pop ? set->lanes : set->ranges,
                                            domain),
                      of->first);
}
