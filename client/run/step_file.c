// SPDX-License-Identifier: Apache-2.0
//
// One pass over the words. Only what is plainly the name of a file counts: a word of the bytes that
// such names have, with a dot or a slash in it. After "-o" of a compiler any name does.
#include "client/run/step_name.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

enum kind { KIND_OTHER, KIND_COMPILER, KIND_MAKE, KIND_SCRIPTED };

struct about {
    enum kind kind;
    struct nvtxt_slice source;     // a file that a compiler reads
    struct nvtxt_slice out;        // after -o
    struct nvtxt_slice file;       // the first file
    struct nvtxt_slice goal;       // of make
    struct nvtxt_slice folder;     // ... after -C
    struct nvtxt_slice redirected; // after >
    struct nvtxt_slice input;      // after <
    bool compiles;                 // -c, -S or -E
    bool has_script;               // of sed and the like: the next word is none
};

static const char *const suffixes[] = {"C",  "F",   "S",  "c",   "c++", "cc",   "cpp",
                                       "cu", "cxx", "f",  "f90", "go",  "java", "l",
                                       "ll", "m",   "mm", "rs",  "s",   "y",    "yy"};

// Options of compilers and linkers that take the word after them.
static const char *const takers[] = {"--param",
                                     "-D",
                                     "-I",
                                     "-L",
                                     "-MF",
                                     "-MQ",
                                     "-MT",
                                     "-T",
                                     "-U",
                                     "-Xassembler",
                                     "-Xlinker",
                                     "-arch",
                                     "-dylib",
                                     "-export-symbols",
                                     "-export-symbols-regex",
                                     "-framework",
                                     "-idirafter",
                                     "-imacros",
                                     "-include",
                                     "-iquote",
                                     "-isystem",
                                     "-release",
                                     "-rpath",
                                     "-soname",
                                     "-u",
                                     "-version-info",
                                     "-x"};

// Compilers and linkers, as they are called between the dashes of a machine and a version.
static const char *const compilers[] = {
    "as",  "bison", "c++",   "c89",    "c99",      "cc",    "clang", "clang++", "cpp", "f77",
    "f95", "flex",  "g++",   "gcc",    "gfortran", "icc",   "icpc",  "icpx",    "icx", "javac",
    "ld",  "lex",   "mpicc", "mpicxx", "nvcc",     "rustc", "tcc",   "yacc"};

static const char *const makes[] = {"gmake", "gnumake", "make", "remake"};

// Programs whose first word is no file.
static const char *const scripted[] = {"awk",  "egrep", "fgrep", "gawk", "grep",
                                       "mawk", "nawk",  "perl",  "sed"};

static bool is_compiler(struct nvtxt_slice program) {
    while (program.len > 0) {
        const char *dash = memchr(program.data, '-', program.len);
        struct nvtxt_slice part = {program.data,
                                   dash ? (size_t)(dash - program.data) : program.len};
        if (SHELL_IS_IN(part, compilers)) {
            return true;
        }
        size_t taken = nvtxt_min(part.len + 1, program.len);
        program = (struct nvtxt_slice){program.data + taken, program.len - taken};
    }
    return false;
}

static enum kind kind_of(struct nvtxt_slice program) {
    return SHELL_IS_IN(program, makes)      ? KIND_MAKE
           : SHELL_IS_IN(program, scripted) ? KIND_SCRIPTED
           : is_compiler(program)           ? KIND_COMPILER
                                            : KIND_OTHER;
}

// ---- Words --------------------------------------------------------------------------------------

static bool is_name(struct nvtxt_slice word) {
    bool has_letter = false;
    for (size_t i = 0; i < word.len; i++) {
        bool is_word = nvtxt_char_is(word.data[i], NVTXT_CHAR_WORD) || word.data[i] < 0;
        if (!is_word && !strchr("./+@~%:-", word.data[i])) {
            return false;
        }
        has_letter = has_letter || (is_word && !nvtxt_char_is(word.data[i], NVTXT_CHAR_DIGIT));
    }
    return has_letter && *word.data != '-';
}

static bool is_file(struct nvtxt_slice word) {
    return is_name(word) &&
           (memchr(word.data, '.', word.len) || memchr(word.data, '/', word.len)) &&
           !nvtxt_starts_with(word, "/dev/");
}

static bool is_source(struct nvtxt_slice word) {
    const char *dot = memrchr(word.data, '.', word.len);
    struct nvtxt_slice suffix = {dot ? dot + 1 : "", 0};
    suffix.len = dot ? word.len - (size_t)(suffix.data - word.data) : 0;
    return is_file(word) && SHELL_IS_IN(suffix, suffixes);
}

// A name that a shell makes of parts ends as the word does: `test -f x.c || echo ../`x.c.
static struct nvtxt_slice plain(struct nvtxt_slice word) {
    word = shell_unquote(word);
    const char *quote = word.len > 0 ? memrchr(word.data, '`', word.len) : NULL;
    size_t skipped = quote ? (size_t)(quote - word.data) + 1 : 0;
    return (struct nvtxt_slice){word.data + skipped, word.len - skipped};
}

static void keep(struct nvtxt_slice *first, struct nvtxt_slice word, bool good) {
    if (good && first->len == 0) {
        *first = word;
    }
}

// The word after an option.
static struct nvtxt_slice after(struct nvtxt_slice *words) {
    struct nvtxt_slice before = *words, word;
    if (shell_next(words, &word) == SHELL_WORD) {
        return plain(word);
    }
    *words = before;
    return (struct nvtxt_slice){"", 0};
}

static bool is_one(struct nvtxt_slice word, const char *text) {
    return nvtxt_slice_equal(word, nvtxt_slice_of(text));
}

static void take_option(struct about *about, struct nvtxt_slice option, struct nvtxt_slice *words) {
    bool compiler = about->kind == KIND_COMPILER, make = about->kind == KIND_MAKE;
    if (compiler && is_one(option, "-o")) {
        struct nvtxt_slice out = after(words);
        keep(&about->out, out, is_name(out));
    } else if (compiler && SHELL_IS_IN(option, takers)) {
        (void)after(words);
    } else if (make && is_one(option, "-C")) {
        about->folder = after(words);
    } else if (make && (is_one(option, "-f") || is_one(option, "-I") || is_one(option, "-o"))) {
        (void)after(words);
    } else if (about->kind == KIND_SCRIPTED && (is_one(option, "-e") || is_one(option, "-f"))) {
        (void)after(words);
        about->has_script = true;
    }
    about->compiles =
        about->compiles || (compiler && option.len == 2 && strchr("cSE", option.data[1]));
}

static void take_word(struct about *about, struct nvtxt_slice word, struct nvtxt_slice *words) {
    if (word.len > 1 && *word.data == '-') {
        take_option(about, word, words);
    } else if (about->kind == KIND_MAKE) {
        keep(&about->goal, word, !shell_is_assignment(word));
    } else if (about->kind == KIND_SCRIPTED && !about->has_script) {
        about->has_script = true;
    } else {
        keep(&about->source, word, is_source(word));
        keep(&about->file, word, is_file(word));
    }
}

static void take_words(struct about *about, struct nvtxt_slice words) {
    struct nvtxt_slice word;
    enum shell_token token;
    while ((token = shell_next(&words, &word)) == SHELL_WORD || token == SHELL_REDIRECT) {
        if (token == SHELL_WORD) {
            take_word(about, plain(word), &words);
            continue;
        }
        bool is_out = memchr(word.data, '>', word.len) && word.data[word.len - 1] != '&';
        struct nvtxt_slice file = after(&words);
        keep(is_out ? &about->redirected : &about->input, file, is_file(file));
    }
}

// ---- What is shown ------------------------------------------------------------------------------

// A path within the folder of the line is shown as from there, another one by its last two parts.
static struct nvtxt_slice shorten(struct nvtxt_slice path, const char *directory) {
    size_t len = strlen(directory), skipped = 0;
    if (len > 1 && nvtxt_starts_with(path, directory) && path.len > len + 1 &&
        path.data[len] == '/') {
        skipped = len + 1;
    } else if (*path.data == '/') {
        const char *slash = memrchr(path.data, '/', path.len - 1);
        slash = slash && slash > path.data ? memrchr(path.data, '/', (size_t)(slash - path.data))
                                           : slash;
        skipped = slash ? (size_t)(slash - path.data) + 1 : 0;
    }
    while (path.len > skipped + 2 && path.data[skipped] == '.' && path.data[skipped + 1] == '/') {
        skipped += 2;
    }
    return (struct nvtxt_slice){path.data + skipped, path.len - skipped};
}

// Copies a name; of a long one the end.
static bool show(char out[STEP_NAME_BYTES + 1], struct nvtxt_slice text) {
    size_t cut = text.len > STEP_NAME_BYTES ? text.len - STEP_NAME_BYTES : 0;
    snprintf(out, STEP_NAME_BYTES + 1, "%.*s", (int)(text.len - cut), text.data + cut);
    return text.len > 0;
}

static bool show_goal(char out[STEP_NAME_BYTES + 1], const struct about *about,
                      const struct step_line *line) {
    if (about->goal.len > 0) { // what only the shell knows is mostly the target
        return show(out, is_name(about->goal) ? about->goal : nvtxt_slice_of(line->target));
    }
    snprintf(out, STEP_NAME_BYTES + 1, "-C %.*s", (int)nvtxt_min(about->folder.len, 60),
             about->folder.data);
    return about->folder.len > 0;
}

// "cmake -E WORD": the word says what it does, and a file in its own folder what to.
static bool show_tool(char out[STEP_NAME_BYTES + 1], struct nvtxt_slice words,
                      const struct about *about) {
    struct nvtxt_slice option, tool;
    if (shell_next(&words, &option) != SHELL_WORD || !is_one(option, "-E") ||
        shell_next(&words, &tool) != SHELL_WORD) {
        return false;
    }
    bool has_file = about->file.len > 0 && *about->file.data != '/';
    snprintf(out, STEP_NAME_BYTES + 1, "-E %.*s%s%.*s", (int)nvtxt_min(tool.len, 30), tool.data,
             has_file ? " " : "", has_file ? (int)nvtxt_min(about->file.len, 60) : 0,
             about->file.data);
    return true;
}

bool step_file(char out[STEP_NAME_BYTES + 1], struct nvtxt_slice program, struct nvtxt_slice words,
               const struct step_line *line) {
    struct about about = {.kind = kind_of(program)};
    take_words(&about, words);
    if (about.kind == KIND_MAKE) {
        return show_goal(out, &about, line);
    }
    if (is_one(program, "cmake") && show_tool(out, words, &about)) {
        return true;
    }
    const struct nvtxt_slice *found = about.compiles && about.source.len > 0 ? &about.source
                                      : about.out.len > 0                    ? &about.out
                                      : about.source.len > 0                 ? &about.source
                                      : about.file.len > 0                   ? &about.file
                                      : about.redirected.len > 0             ? &about.redirected
                                                                             : &about.input;
    return found->len > 0 && show(out, shorten(*found, line->directory));
}
