// SPDX-License-Identifier: Apache-2.0
#include "client/run/step_name.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct step_name name_of(const char *text, const char *shell, const char *target) {
    const struct step_line line = {nvtxt_slice_of(text), shell, target, "/b"};
    struct step_name name;
    step_name_make(&name, &line);
    return name;
}

static void is_named(const char *text, const char *wanted) {
    struct step_name name = name_of(text, "/bin/sh", "the-target");
    cr_assert_str_eq(name.text, wanted, "'%s' of %s", name.text, text);
}

Test(step_name, of_a_compiler_is_its_source_or_what_it_makes) {
    is_named("gcc -DX -I. -I.. -O2 -MT lib/x.o -MD -MP -MF lib/.deps/x.Tpo -c -o lib/x.o lib/x.c",
             "gcc lib/x.c");
    is_named("x86_64-linux-gnu-gcc-12 -c ./a.c", "x86_64-linux-gnu-gcc-12 a.c");
    is_named("gcc -g -O2 -o hello src/hello.o ./lib/libhello.a", "gcc hello");
    is_named("g++ -o prog main.cc -lm", "g++ prog");
    is_named("cc -include config.h -x c -E -o out.i in.c > log.txt", "cc in.c");
    is_named("gcc -c -o x.o `test -f 'src/x.c' || echo '../'`src/x.c", "gcc src/x.c");
    is_named("bison --yacc -d -o src/parser.c ../src/parser.y", "bison src/parser.c");
    is_named("gcc -include a.c -c b.c", "gcc b.c");
    is_named("gcc --version", "gcc --version");
}

Test(step_name, leaves_out_what_only_prepares) {
    is_named("depbase=`echo lib/x.o | sed 's|[^/]*$|.deps/&|;s|\\.o$||'`;\\\n"
             "gcc -DH -c -o lib/x.o lib/x.c &&\\\nmv -f $depbase.Tpo $depbase.Po",
             "gcc lib/x.c");
    is_named("echo \"  CC       x.o\"; gcc -c x.c", "gcc x.c");
    is_named("set -e;  echo '  CC      init/main.o'; gcc -Wp,-MMD,init/.main.o.d -c -o init/main.o "
             "init/main.c ; ./tools/objtool/objtool --orc init/main.o",
             "gcc init/main.c");
    is_named("rm -f lib/libx.a", "rm lib/libx.a");
    is_named(
        "rm -f config.h && sed -e 's/a.b/c/' < config.in > config.h-t && mv config.h-t config.h",
        "sed config.h-t");
    is_named("if test -d x.d; then find x.d -type d ! -perm -200; rm -rf x.d; fi || :", "find x.d");
    is_named("test -f config.h || make  stamp-h1", "make stamp-h1");
    is_named("(cd lib && ar cru liby.a a.o b.o)", "ar liby.a");
    is_named("for f in a.h b.h; do echo $f; /usr/bin/install -c -m 644 $f /usr/include; done",
             "install usr/include");
    is_named("{ echo '/* made */'; sed -e 's|a|b|' -e 's/c.d/e/' < ./stdio.in.h; } > stdio.h-t",
             "sed stdio.in.h");
    is_named("strip () { flg=`echo x`; }; case $x in a) strip v;; esac; make all", "make all");
    is_named("strip () { flg=`echo x`; }; make all", "make all");
    is_named("@echo hello 'big  world'", "echo hello 'big  world'");
    is_named("  @-+ false", "false");
    is_named("V=1 W='a b' 2>/dev/null ./configure --prefix=/usr", "configure --prefix=/usr");
}

Test(step_name, of_make_is_what_it_is_to_make) {
    is_named("make -j2 -C lib all V=1", "make all");
    is_named("make  -C lib", "make -C lib");
    is_named("/usr/bin/make -s -f CMakeFiles/Makefile2 all", "make all");
    is_named("make", "make");
    is_named("make  all-am", "make all-am");
    is_named("fail=; if { if test -z '1'; then false; elif test -n ''; then true; fi; }; then "
             "failcom='fail=yes'; else failcom='exit 1'; fi; dot_seen=no; "
             "target=`echo all-recursive | sed s/-recursive//`; "
             "case \"all-recursive\" in distclean-* | maintainer-clean-*) list='. lib' ;; "
             "*) list='. lib' ;; esac; for subdir in $list; do "
             "echo \"Making $target in $subdir\"; if test \"$subdir\" = \".\"; then dot_seen=yes; "
             "local_target=\"$target-am\"; else local_target=\"$target\"; fi; "
             "(CDPATH=\"${ZSH_VERSION+.}:\" && cd $subdir && make  $local_target) "
             "|| eval $failcom; done; test -z \"$fail\"",
             "make the-target");
}

Test(step_name, looks_through_what_runs_a_program) {
    is_named("/bin/bash ./libtool  --tag=CC   --mode=compile gcc -c -o src/x.lo src/x.c",
             "gcc src/x.c");
    is_named("/bin/sh ../libtool --silent --mode=link gcc -version-info 5:0:4 -o libx.la -rpath "
             "/usr/lib x.lo",
             "gcc libx.la");
    is_named("cd /b/src && /usr/bin/cc -I/s/inc -o CMakeFiles/x.dir/a.c.o -c /s/src/a.c",
             "cc src/a.c");
    is_named("/usr/bin/c++ -MD -MT x -MF x.d -o CMakeFiles/p.dir/p.cpp.o -c /b/p.cpp", "c++ p.cpp");
    is_named("/usr/bin/cmake -E cmake_link_script CMakeFiles/p.dir/link.txt --verbose=1",
             "cmake -E cmake_link_script CMakeFiles/p.dir/link.txt");
    is_named(
        "cd /b && /usr/bin/cmake -E cmake_depends \"Unix Makefiles\" /s /s /b /b/x.cmake --color=",
        "cmake -E cmake_depends");
    is_named("/usr/bin/cmake -P cmake_install.cmake", "cmake cmake_install.cmake");
    is_named("env A=1 nice -n 5 ccache gcc -c z.c", "gcc z.c");
    is_named("/bin/sh /s/build-aux/missing automake-1.16 --gnu Makefile",
             "automake-1.16 --gnu Makefile");
    is_named("/bin/sh ./config.status --recheck", "config.status --recheck");
    is_named("sh -ec 'cd x; ./gen \"a b\" out.h'", "gen out.h");
    is_named("bash -c \"bash -c 'cc -c q.c'\"", "cc q.c");
    is_named("time -p timeout 60 ./run-tests", "run-tests");
}

Test(step_name, is_never_empty_and_never_long) {
    static const char *const odd[] = {
        "",
        " ",
        "@",
        ";",
        "&&",
        "'",
        "\"",
        "`",
        "$(",
        "${",
        "$((1",
        "\\",
        "a\\",
        "(((((",
        "case",
        "case x in",
        "case x in a",
        "case x in a)",
        "for",
        "for x in",
        "if",
        "! {",
        "<",
        "> ",
        "2>",
        "2>&1",
        "#",
        "# only this",
        "env",
        "sh",
        "sh -c",
        "sh -c ''",
        "libtool",
        "gcc -o",
        "gcc -c",
        "make -C",
        "make -f",
        "sed -e",
        "A=1",
        "A=1 B=2",
        "''",
        "\"\" x",
        "'a b' c",
        "\xff\xfe \x80",
        "\n\n",
        "x\n",
        "/",
        "./",
        "//",
        "a/",
        "gcc -c /",
        "cat /x/",
        "cat ./",
        "cat .//./x",
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct step_name name = name_of(odd[i], "/bin/sh", "");
        cr_assert(*name.text && strlen(name.text) <= STEP_NAME_BYTES, "of %s", odd[i]);
        cr_assert_gt(name.program.len, 0, "of %s", odd[i]);
    }
    is_named("", "sh the-target");
    is_named("A=1", "sh the-target");
}

// Bytes that mean something to a shell, in any order.
Test(step_name, is_made_of_any_bytes) {
    static const char bytes[] = "ab/.;&|()<>'\"`$\\{}= \t\n#-0c\xc3\xa4";
    char text[64];
    uint32_t seed = 1;
    for (int round = 0; round < 200000; round++) {
        size_t len = seed % (sizeof(text) - 1);
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
        }
        text[len] = '\0';
        seed = seed * 1664525u + 1013904223u;
        struct step_name name = name_of(text, "/bin/sh", "t");
        cr_assert(*name.text && strlen(name.text) <= STEP_NAME_BYTES, "of %s", text);
    }
}

Test(step_name, keeps_the_end_of_a_long_file) {
    char text[400], folder[200];
    memset(folder, 'd', sizeof(folder));
    folder[199] = '\0';
    snprintf(text, sizeof(text), "gcc -c %s/quotearg.c", folder);
    struct step_name name = name_of(text, "sh", "t");
    cr_assert_eq(strlen(name.text), STEP_NAME_BYTES, "%s", name.text);
    cr_assert(nvtxt_ends_with(name.text, "dd/quotearg.c"), "%s", name.text);
    cr_assert(nvtxt_starts_with(nvtxt_slice_of(name.text), "gcc …d"), "%s", name.text);
    memset(text, 'w', sizeof(text));
    text[399] = '\0';
    name = name_of(text, "sh", "t");
    cr_assert(nvtxt_ends_with(name.text, "w…") && strlen(name.text) < 60, "%s", name.text);
}

Test(step_name, of_a_line_that_is_no_shells_is_the_target) {
    cr_assert_str_eq(name_of("print('a.c')", "/usr/bin/python3", "x").text, "python3 x");
    cr_assert_str_eq(name_of("print('a.c')", "perl", "").text, "perl");
    cr_assert_str_eq(name_of("cc -c a.c", "/opt/bin/ksh93", "x").text, "cc a.c");
}
