# SPDX-License-Identifier: Apache-2.0
# Tests of protocol/; see Makefile.am for what a line looks like.
unit_programs += unit/test_arrays
unit_programs += unit/test_buf
unit_programs += unit/test_hello
unit_programs += unit/test_reply
unit_programs += unit/test_frame
unit_programs += unit/test_diag
unit_programs += unit/test_near
unit_programs += unit/test_symtab
unit_programs += unit/test_utf8
unit_programs += unit/test_uuid
unit_programs += unit/test_value
unit_programs += unit/test_colors
unit_programs += unit/test_timebase
unit_programs += unit/test_commands
unit_programs += unit/test_ctlmsg_args
unit_programs += unit/test_hash
unit_programs += unit/test_walk
unit_programs += unit/test_texts
unit_programs += unit/test_hash_value
unit_programs += unit/test_hash_attack
unit_programs += unit/test_jsontext
unit_programs += unit/test_level
unit_programs += unit/test_scan
unit_programs += unit/test_lexer
unit_programs += unit/test_shape
unit_programs += unit/test_ini
unit_programs += unit/test_command_line
unit_programs += unit/test_interp
unit_programs += unit/test_state
unit_test_interp_SOURCES = unit/test_interp.c unit/recorder.c unit/recorder.h
unit_test_state_SOURCES = unit/test_state.c unit/recorder.c unit/recorder.h
unit_programs += unit/test_stmt
unit_programs += unit/test_ranges
unit_programs += unit/test_call

# Built as configure --enable-origins builds all.
serial_programs += plain/origins
plain_origins_SOURCES = plain/origins.c ../protocol/base/origin.c
plain_origins_CPPFLAGS = $(AM_CPPFLAGS) -DNVTXT_ORIGINS
plain_origins_CFLAGS = $(AM_CFLAGS) -fno-optimize-sibling-calls
plain_origins_LDADD =
