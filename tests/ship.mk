# SPDX-License-Identifier: Apache-2.0
# Tests of ship/; see Makefile.am for what a line looks like.
EXTRA_DIST += e2e/fleet_board.py e2e/fleet_rows.py e2e/fleet_roles_v1.sql e2e/fleet_roles_v2.sql e2e/fleet_roles_v3.sql e2e/following.py \
	e2e/citus.py e2e/postgres.py e2e/proxy.py e2e/ship.py e2e/two_hosts.py
unbuilt_tests += e2e/test_postgres.py
unit_programs += unit/test_ship_binary
unit_programs += unit/test_ship_failure
unit_programs += unit/test_ship_guard
unit_programs += unit/test_ship_conf
unit_programs += unit/test_ship_lease
unit_programs += unit/test_ship_rows
unit_programs += unit/test_ship_simulate
unit_programs += unit/test_ship_target
unit_programs += unit/test_ship_wait
serial_tests += e2e/test_ship.py
waiting_tests += e2e/test_ship_crash.py
waiting_tests += e2e/test_ship_failures.py
waiting_tests += e2e/test_ship_follow.py
waiting_tests += e2e/test_ship_full.py
waiting_tests += e2e/test_citus.py
waiting_tests += e2e/test_citus_failures.py
serial_tests += e2e/test_ship_hostile.py
waiting_tests += e2e/test_ship_identity.py
waiting_tests += e2e/test_ship_init.py
waiting_tests += e2e/test_ship_keep.py
waiting_tests += e2e/test_ship_lease.py
waiting_tests += e2e/test_ship_memory.py
serial_tests += e2e/test_ship_page.py
waiting_tests += e2e/test_ship_parents.py
waiting_tests += e2e/test_ship_pull.py
waiting_tests += e2e/test_ship_queries.py
waiting_tests += e2e/test_ship_rights.py
waiting_tests += e2e/test_ship_simulate.py
waiting_tests += e2e/test_ship_tools.py
waiting_tests += e2e/test_ship_network.py
waiting_tests += e2e/test_ship_users.py
waiting_tests += e2e/test_ship_watchdog.py
long_ship_tests = e2e/test_citus_failures.py e2e/test_ship_crash.py
