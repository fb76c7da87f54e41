// SPDX-License-Identifier: Apache-2.0
//
// Runs a file through frame and interpreter, nothing else, and prints what comes out in the
// formats of the golden corpus (README.md in this folder): events and names as JSON arrays,
// then diagnostics, then the counters in a line that begins with '#'.
//
// The input is fed in pieces, each from memory of its own that is exactly as large and freed as
// soon as the piece is used up: a view that lives too long, or a byte read past the end, is seen
// by a sanitizer. --split N cuts the input once, at byte N. --split-all tries the cuts of an input
// (every one of a small input, a sample of a large one; under AddressSanitizer a third of them,
// unless NVTXT_TEST_LONG is set) and pieces of 1, 2, 3 and 7 bytes, and fails if any of them
// changes the output. Without arguments, files and their options come on standard input.
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"
#include "protocol/wire/hello.h"
#include "tests/golden/record.h"

#define ALL_CUTS_BYTES 4096 // up to here every cut is tried
#define SAMPLED_CUTS 256    // how many of a larger input

struct input {
    char *data; // owned
    size_t len;
};

// How an input is cut: one piece of `first` bytes, then pieces of `piece` bytes.
struct cuts {
    size_t first;
    size_t piece;
};

struct feed {
    struct nvtxt_frame frame;
    struct nvtxt_interp *interp;
    struct nvtxt_sink sink;
};

static void out_of_memory(void) {
    errx(71, "out of memory");
}

// ---- Running ------------------------------------------------------------------------------------

static void take_line(struct feed *feed, int result, struct nvtxt_slice line) {
    int error = result;
    bool escapes, nvtx;
    if (result == NVTXT_FRAME_LINE && nvtxt_interp_counters(feed->interp)->lines == 0 &&
        nvtxt_hello_of_file(line, &escapes, &nvtx) == 1) {
        nvtxt_interp_extend(feed->interp, escapes, nvtx);
    }
    if (result == NVTXT_FRAME_LINE) {
        error = nvtxt_interp_line(feed->interp, line, &feed->sink);
    } else if (result == NVTXT_FRAME_OVERLONG) {
        error = nvtxt_interp_overlong(feed->interp, line, &feed->sink);
    }
    if (error) {
        errx(70, "a line gave %s", strerror(-error));
    }
}

static void take_piece(struct feed *feed, const char *data, size_t len) {
    char *copy = malloc(len ? len : 1);
    if (!copy) {
        out_of_memory();
    }
    memcpy(copy, data, len);
    struct nvtxt_slice input = {copy, len}, line;
    int result;
    while ((result = nvtxt_frame_next(&feed->frame, &input, &line)) != NVTXT_FRAME_MORE) {
        take_line(feed, result, line);
    }
    if (input.len != 0) {
        errx(70, "the frame left %zu bytes", input.len);
    }
    free(copy);
}

static void take_end(struct feed *feed) {
    struct nvtxt_slice line;
    int result;
    while ((result = nvtxt_frame_finish(&feed->frame, &line)) != NVTXT_FRAME_MORE) {
        take_line(feed, result, line);
    }
    int error = nvtxt_interp_end(feed->interp, &feed->sink);
    if (error) {
        errx(70, "the end gave %s", strerror(-error));
    }
}

// Feeds the whole input, cut as asked. The caller frees the interpreter that is returned.
static struct nvtxt_interp *run_interp(const struct nvtxt_source_config *config,
                                       const struct input *input, struct cuts cuts,
                                       struct record *record) {
    struct feed feed = {.interp = nvtxt_interp_new(config), .sink = record_sink(record)};
    if (!feed.interp) {
        out_of_memory();
    }
    nvtxt_frame_init(&feed.frame, config->limits.line_bytes);
    size_t at = 0;
    for (size_t piece = cuts.first; at < input->len; piece = cuts.piece) {
        size_t len = input->len - at < piece ? input->len - at : piece;
        take_piece(&feed, input->data + at, len);
        at += len;
    }
    take_end(&feed);
    nvtxt_frame_deinit(&feed.frame);
    return feed.interp;
}

// Rows, diagnostics and counters as one text, in record->rows.
static void run(const struct nvtxt_source_config *config, const struct input *input,
                struct cuts cuts, struct record *record) {
    record_clear(record);
    struct nvtxt_interp *interp = run_interp(config, input, cuts, record);
    record_finish(record, nvtxt_interp_counters(interp));
    nvtxt_interp_free(interp);
}

// Returns false, with a word on stderr, when a cut changes the output.
static bool same(const struct nvtxt_source_config *config, const struct input *input,
                 struct cuts cuts, const struct record *whole) {
    struct record record = {0};
    run(config, input, cuts, &record);
    bool equal = record_equal(&record, whole);
    if (!equal) {
        fprintf(stderr, "cut at %zu, then pieces of %zu: another output\n%.*s", cuts.first,
                cuts.piece, (int)record.rows.len, record.rows.data);
    }
    record_deinit(&record);
    return equal;
}

static bool same_for_all_cuts(const struct nvtxt_source_config *config, const struct input *input,
                              const struct record *whole) {
    static const size_t pieces[] = {1, 2, 3, 7};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        if (!same(config, input, (struct cuts){pieces[i], pieces[i]}, whole)) {
            return false;
        }
    }
    size_t step = input->len <= ALL_CUTS_BYTES ? 1 : input->len / SAMPLED_CUTS;
#ifdef __SANITIZE_ADDRESS__
    step *= getenv("NVTXT_TEST_LONG") ? 1 : 3;
#endif
    for (size_t at = 1; at < input->len; at += step) {
        if (!same(config, input, (struct cuts){at, SIZE_MAX}, whole)) {
            return false;
        }
    }
    return true;
}

// ---- Options and input -------------------------------------------------------------------------

struct options {
    struct nvtxt_source_config config;
    bool has_nvtxt_a, has_nvtxt_b;
    bool split_all;
    size_t split;
};

enum {
    OPTION_MODE = 256,
    OPTION_NS_A,
    OPTION_NS_B,
    OPTION_NVTXT_A,
    OPTION_NVTXT_B,
    OPTION_FREQ,
    OPTION_ORIGIN,
    OPTION_PID,
    OPTION_CLAIM,
    OPTION_LIMIT,
    OPTION_SPLIT,
    OPTION_SPLIT_ALL,
};

static const struct option long_options[] = {
    {"mode", required_argument, NULL, OPTION_MODE},
    {"ns-a", required_argument, NULL, OPTION_NS_A},
    {"ns-b", required_argument, NULL, OPTION_NS_B},
    {"nvtxt-a", required_argument, NULL, OPTION_NVTXT_A},
    {"nvtxt-b", required_argument, NULL, OPTION_NVTXT_B},
    {"freq", required_argument, NULL, OPTION_FREQ},
    {"origin", required_argument, NULL, OPTION_ORIGIN},
    {"pid", required_argument, NULL, OPTION_PID},
    {"claim", required_argument, NULL, OPTION_CLAIM},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"split", required_argument, NULL, OPTION_SPLIT},
    {"split-all", no_argument, NULL, OPTION_SPLIT_ALL},
    {NULL, 0, NULL, 0},
};

static enum nvtxt_mapping_mode mapping_mode(const char *name) {
    if (strcmp(name, "lerp") == 0) {
        return NVTXT_MAPPING_LERP;
    }
    if (strcmp(name, "lin") == 0) {
        return NVTXT_MAPPING_LIN;
    }
    errx(64, "unknown mode '%s'", name);
}

// NAME=N, where NAME is a member of struct nvtxt_limits.
static void set_limit(struct nvtxt_limits *limits, const char *text) {
    const struct {
        const char *name;
        size_t *limit;
    } table[] = {
        {"line_bytes", &limits->line_bytes},       {"variables", &limits->variables},
        {"name_bytes", &limits->name_bytes},       {"variable_bytes", &limits->variable_bytes},
        {"push_depth", &limits->push_depth},       {"open_ranges", &limits->open_ranges},
        {"open_threads", &limits->open_threads},   {"open_bytes", &limits->open_bytes},
        {"waiting_names", &limits->waiting_names}, {"diagnostics", &limits->diagnostics},
    };
    const char *equals = strchr(text, '=');
    for (size_t i = 0; equals && i < sizeof(table) / sizeof(*table); i++) {
        if (strlen(table[i].name) == (size_t)(equals - text) &&
            memcmp(table[i].name, text, (size_t)(equals - text)) == 0) {
            *table[i].limit = strtoul(equals + 1, NULL, 10);
            return;
        }
    }
    errx(64, "no such limit: %s", text);
}

static void set_option(struct options *options, int option, const char *text) {
    struct nvtxt_source_config *config = &options->config;
    int64_t number = text ? strtoll(text, NULL, 10) : 0;
    switch (option) {
    case OPTION_MODE:
        config->mapping.mode = mapping_mode(text);
        break;
    case OPTION_NS_A:
        config->mapping.ns_a = number;
        break;
    case OPTION_NS_B:
        config->mapping.ns_b = number;
        break;
    case OPTION_NVTXT_A:
        config->mapping.nvtxt_a = number;
        options->has_nvtxt_a = true;
        break;
    case OPTION_NVTXT_B:
        config->mapping.nvtxt_b = number;
        options->has_nvtxt_b = true;
        break;
    case OPTION_FREQ:
        config->mapping.freq = number;
        break;
    case OPTION_ORIGIN:
        config->origin_ns = number;
        break;
    case OPTION_PID:
        config->default_pid = (uint32_t)number;
        break;
    case OPTION_CLAIM:
        config->claim = true;
        config->claimed_pid = (uint32_t)number;
        break;
    case OPTION_LIMIT:
        set_limit(&config->limits, text);
        break;
    case OPTION_SPLIT:
        options->split = (size_t)number;
        break;
    case OPTION_SPLIT_ALL:
        options->split_all = true;
        break;
    default:
        exit(64);
    }
}

static void read_file(const char *path, struct input *input) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        err(66, "%s", path);
    }
    input->len = (size_t)ftell(file);
    input->data = malloc(input->len ? input->len : 1);
    if (!input->data) {
        out_of_memory();
    }
    rewind(file);
    if (fread(input->data, 1, input->len, file) != input->len) {
        err(74, "%s", path);
    }
    fclose(file);
}

// nvtxt_a and nvtxt_b default to the smallest and largest time of the file.
static void complete_mapping(struct options *options, const struct input *input) {
    struct nvtxt_mapping *mapping = &options->config.mapping;
    bool needs_b = mapping->mode == NVTXT_MAPPING_LERP && !options->has_nvtxt_b;
    if (mapping->mode == NVTXT_MAPPING_NONE || (options->has_nvtxt_a && !needs_b)) {
        return;
    }
    struct nvtxt_source_config unmapped = options->config;
    unmapped.mapping.mode = NVTXT_MAPPING_NONE;
    struct record record = {0};
    struct nvtxt_interp *interp =
        run_interp(&unmapped, input, (struct cuts){SIZE_MAX, SIZE_MAX}, &record);
    int64_t smallest, largest;
    if (nvtxt_interp_raw_times(interp, &smallest, &largest)) {
        if (!options->has_nvtxt_a) {
            mapping->nvtxt_a = smallest;
        }
        if (needs_b) {
            mapping->nvtxt_b = largest;
        }
    }
    nvtxt_interp_free(interp);
    record_deinit(&record);
}

// Runs the file that such arguments name. Returns the exit status.
static int dump(int argc, char **argv) {
    struct options options = {
        .config = {.limits = NVTXT_LIMITS_DEFAULT, .opened_ns = RECORD_OPENED_NS},
        .split = SIZE_MAX,
    };
    optind = 0; // anew
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        set_option(&options, option, optarg);
    }
    if (optind + 1 != argc) {
        errx(64, "usage: interp_dump [[OPTION]... FILE]");
    }

    struct input input;
    read_file(argv[optind], &input);
    complete_mapping(&options, &input);
    const char *fault = nvtxt_mapping_fault(&options.config.mapping);
    if (fault) {
        errx(64, "%s", fault);
    }

    struct record record = {0};
    struct cuts cuts = {options.split, SIZE_MAX};
    run(&options.config, &input, cuts, &record);
    fwrite(record.rows.data, 1, record.rows.len, stdout);
    bool good = !options.split_all || same_for_all_cuts(&options.config, &input, &record);
    record_deinit(&record);
    free(input.data);
    return good ? 0 : 1;
}

// Each line of standard input holds arguments, with tabs between them. After what it gives comes a
// line "= STATUS".
static void dump_all(char *name) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *words[32] = {name}, *rest = NULL;
        int count = 1;
        for (char *word = strtok_r(line, "\t\n", &rest); word;
             word = strtok_r(NULL, "\t\n", &rest)) {
            if (count + 1 == (int)(sizeof(words) / sizeof(*words))) {
                errx(64, "too many arguments");
            }
            words[count++] = word;
        }
        printf("= %d\n", dump(count, words));
        fflush(stdout);
    }
    free(line);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        return dump(argc, argv);
    }
    dump_all(argv[0]);
    return 0;
}
