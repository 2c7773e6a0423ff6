//! Memory: streams share a controller, remote ones pay their factor, lock-step transfers crowd their source.

use std::sync::Arc;

use sim_core::account::Category;
use sim_core::ids::{CpuId, NodeId, ProfileId};
use sim_core::machine::{CpuSet, Memory};
use sim_core::program::{AppSpec, MemoryProfile, Op, Pages, Program, Spread, TransferOrder};
use sim_core::time::{Span, Work};
use sim_core::wait::WaitMode;

use crate::support::{Trial, app, registry, seconds, waits};

/// Barcelona's controller, bytes per second.
const CONTROLLER: u64 = 4_500_000_000;

/// One task of a second of work, all of it waiting for memory on a node.
fn stream(cpu: u32, demand: u64, node: u32) -> AppSpec {
    let profile = MemoryProfile {
        demand,
        bound: Some(1 << 16),
        working_set: 0,
        pages: Pages::Node(NodeId(node)),
        shared: 0,
    };
    second(cpu, profile)
}

/// One task of a second of work with this profile.
pub(crate) fn second(cpu: u32, profile: MemoryProfile) -> AppSpec {
    let work = Work::from_span(Span::from_ms(1_000));
    let ops = vec![Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }];
    let program = Arc::new(Program::new(ops, vec![profile]).unwrap());
    let mut app = AppSpec::new("stream", 1, program, waits(WaitMode::Spin));
    app.allowed = Some(CpuSet::of([CpuId(cpu)]));
    app
}

/// Barcelona, where overhead costs nothing, cores and links carry as much as anybody asks for, and remote
/// memory is 1.3 as far.
fn barcelona() -> Trial {
    let mut trial = Trial::on("barcelona").free();
    trial.machine.memory.core_bandwidth = 10 * CONTROLLER;
    trial.machine.memory.link_bandwidth = 0;
    trial.machine.memory.remote_factor = 1_300;
    trial.machine.memory.distances = Vec::new();
    trial
}

/// Run times of streams, each on its own cpu of node 0, with pages on the given node.
fn times(demands: &[u64], node: u32) -> Vec<f64> {
    let mut trial = barcelona();
    for (cpu, demand) in (0u32..).zip(demands) {
        trial = trial.app(stream(cpu, *demand, node));
    }
    let report = trial.run();
    (0..demands.len()).map(|i| seconds(&report, i)).collect()
}

/// How much slower distance alone makes a stream that does nothing but wait for memory. A core has a fixed
/// number of requests under way, so the stream asks for as much less per second, and it is that which loads
/// what is on its way.
const FAR: f64 = 1.3;

/// The stretch law with Barcelona's exponent.
pub(crate) fn stretch(rho: f64) -> f64 {
    (1.0 + rho.powi(4)).powf(0.25)
}

#[test]
fn streams_on_one_controller_get_equal_parts_of_it() {
    for n in 1..=4 {
        let all = times(&vec![CONTROLLER; n], 0);
        let law = stretch(n as f64);
        assert!(all.iter().all(|time| (time / law - 1.0).abs() < 0.001), "{n} streams: {all:?}, not {law}");
        // Saturated, each gets 1/n: n streams of a second's traffic take n seconds.
        assert!(n < 3 || all.iter().all(|time| (time / n as f64 - 1.0).abs() < 0.01), "{n} streams: {all:?}");
    }
}

#[test]
fn a_remote_stream_pays_the_remote_factor() {
    // The factor itself where nothing is crowded; less where it is, as it asks for less there: 1.3 h(rho /
    // 1.3) / h(rho).
    for demand in [CONTROLLER / 100, CONTROLLER / 2, CONTROLLER] {
        let rho = demand as f64 / CONTROLLER as f64;
        close(times(&[demand], 0)[0], stretch(rho), "local");
        close(times(&[demand], 2)[0], FAR * stretch(rho / FAR), "remote");
    }
    // Where controllers are saturated, distance no longer matters.
    let ratio = times(&[CONTROLLER; 4], 2)[0] / times(&[CONTROLLER; 4], 0)[0];
    assert!((1.0..1.01).contains(&ratio), "{ratio}");
}

#[test]
fn other_controllers_are_not_in_the_way() {
    let mut trial = barcelona();
    for cpu in 0..4 {
        trial = trial.app(stream(4 * cpu, CONTROLLER, cpu));
    }
    let report = trial.run();
    for i in 0..4 {
        let time = seconds(&report, i);
        assert!((time / stretch(1.0) - 1.0).abs() < 0.001, "stream {i}: {time} s");
    }
}

#[test]
fn a_light_stream_slows_as_much_as_the_heavy_ones() {
    // Proportional sharing: max-min sharing would leave the light one alone.
    let all = times(&[CONTROLLER / 50, CONTROLLER, CONTROLLER, CONTROLLER], 0);
    let law = stretch(3.02);
    assert!(all.iter().all(|time| (time / law - 1.0).abs() < 0.002), "{all:?}, not {law}");
}

#[test]
fn unequal_streams_lose_by_one_factor_what_each_waits_for_memory() {
    let (limit, demands) = (9_000_000_000, [1_000_000_000, 2_000_000_000, 10_000_000_000]);
    let factor = stretch(13.0 / 9.0);
    for (measured, demand) in demands.into_iter().enumerate() {
        let mut trial = barcelona();
        trial.machine.memory.node_bandwidth = limit;
        let full = f64::from(trial.machine.memory.bound_demand) / 1e3 * limit as f64;
        for (at, demand) in demands.into_iter().enumerate() {
            let mut app = second(at as u32, MemoryProfile { bound: None, demand, ..MemoryProfile::NONE });
            // The others read until it has ended.
            app.rank_scale = vec![if at == measured { 1_000 } else { 10_000 }];
            trial = trial.app(app);
        }
        let bound = (demand as f64 / full).min(1.0);
        close(seconds(&trial.run(), measured), 1.0 - bound + bound * factor, "time");
    }
}

#[test]
fn what_memory_adds_is_booked_as_stall() {
    let trial = barcelona().app(stream(0, CONTROLLER, 0)).app(stream(1, CONTROLLER, 0));
    let report = trial.run();
    for cpu in &report.cpus[..2] {
        let (compute, stall) = (cpu.get(Category::Compute).ns(), cpu.get(Category::MemoryStall).ns());
        assert!(compute.abs_diff(1_000_000_000) < 1_000, "{compute} ns of work");
        let law = (stretch(2.0) - 1.0) * 1e9;
        assert!((stall as f64 / law - 1.0).abs() < 0.002, "{stall} ns of stall, not {law}");
    }
}

fn close(found: f64, law: f64, what: &str) {
    assert!((found / law - 1.0).abs() < 0.002, "{what}: {found}, not {law}");
}

#[test]
fn each_pair_of_nodes_has_its_distance() {
    let mut trial = barcelona();
    trial.machine.memory.distances = vec![
        1_000, 1_200, 1_700, 1_400, //
        1_200, 1_000, 1_400, 1_700, //
        1_700, 1_400, 1_000, 1_200, //
        1_400, 1_700, 1_200, 1_000,
    ];
    for (node, law) in [(0, 1.0), (1, 1.2), (2, 1.7), (3, 1.4)] {
        let time = seconds(&trial.clone().app(stream(0, CONTROLLER / 100, node)).run(), 0);
        close(time, law, &format!("node {node}"));
    }
    // Interleaved pages cost the mean.
    let profile = MemoryProfile {
        demand: CONTROLLER / 100,
        bound: Some(1 << 16),
        pages: Pages::Interleaved,
        ..MemoryProfile::NONE
    };
    close(seconds(&trial.app(second(0, profile)).run(), 0), (1.0 + 1.2 + 1.7 + 1.4) / 4.0, "interleaved");
}

#[test]
fn shared_data_are_spread_over_the_nodes() {
    let profile = MemoryProfile {
        demand: CONTROLLER / 100,
        bound: Some(1 << 16),
        shared: 1 << 15,
        ..MemoryProfile::NONE
    };
    // Half at home, half spread: of those three quarters at 1.3.
    let time = seconds(&barcelona().app(second(0, profile)).run(), 0);
    close(time, 0.5 + 0.5 * (1.0 + 3.0 * 1.3) / 4.0, "half shared");
}

/// The time of two tasks of a second each, bound to the first cpus of nodes 0 and 1, that use the pages of both.
fn team(demand: u64, cpus: &[u32]) -> f64 {
    let profile = MemoryProfile { demand, bound: Some(1 << 16), pages: Pages::Team, ..MemoryProfile::NONE };
    let compute = |ns| Op::Compute {
        work: Work::from_span(Span::from_ns(ns)),
        spread: Spread::NONE,
        profile: ProfileId(0),
    };
    // They touch their pages first, and go on when all have done so.
    let ops = vec![compute(1_000), Op::Barrier, compute(1_000_000_000)];
    let program = Arc::new(Program::new(ops, vec![profile]).unwrap());
    let mut app = AppSpec::new("team", cpus.len() as u32, program, waits(WaitMode::Spin));
    app.allowed = Some(CpuSet::of(cpus.iter().copied().map(CpuId)));
    barcelona().policy("PIN", &[]).app(app).seconds()
}

#[test]
fn pages_of_a_team_lie_where_its_tasks_began() {
    // Three quarters of the pages on node 0, one on node 1: the task on node 1 is the slowest.
    close(team(CONTROLLER / 100, &[0, 1, 2, 4]), 0.25 + 0.75 * 1.3, "uneven");
    // Half of the pages is remote for everybody, and each controller carries half of both demands.
    close(team(CONTROLLER, &[0, 4]), 1.15 * stretch(1.0 / 1.15), "crowded");
    close(team(CONTROLLER, &[0, 1]), stretch(2.0), "on one node");
}

#[test]
fn a_link_limits_what_a_node_serves_to_others() {
    let mut trial = barcelona();
    trial.machine.memory.link_bandwidth = CONTROLLER / 2;
    for cpu in [0, 4] {
        trial = trial.app(stream(cpu, CONTROLLER / 2, 2));
    }
    // Each of the two asks for 1 / 1.3 of what the port carries. The node's own stream does not use the port,
    // but the controller: half of it, and the two others' halves over 1.3.
    let report = trial.app(stream(8, CONTROLLER / 2, 2)).run();
    for i in 0..2 {
        close(seconds(&report, i), FAR * stretch(2.0 / FAR), "remote");
    }
    close(seconds(&report, 2), stretch(0.5 + 2.0 * 0.5 / FAR), "home");
}

#[test]
fn a_crossbar_limits_all_remote_traffic_together() {
    let mut trial = barcelona();
    trial.machine.memory.crossbar_bandwidth = CONTROLLER / 2;
    trial = trial.app(stream(0, CONTROLLER / 2, 1)).app(stream(8, CONTROLLER / 2, 3));
    let report = trial.app(stream(4, CONTROLLER / 100, 1)).run();
    for i in 0..2 {
        close(seconds(&report, i), FAR * stretch(2.0 / FAR), "remote");
    }
    // On its controller there is nothing but a hundredth of its own and half of it over 1.3 from elsewhere.
    close(seconds(&report, 2), stretch(0.01 + 0.5 / FAR), "home");
}

#[test]
fn distance_and_contention_are_booked_apart() {
    let light = barcelona().app(stream(0, CONTROLLER / 100, 2)).run();
    let (remote, stall) = (light.cpus[0].get(Category::Remote), light.cpus[0].get(Category::MemoryStall));
    assert!(remote.ns().abs_diff(300_000_000) < 20_000 && stall.ns() < 10_000, "{remote:?} {stall:?}");
    // Two heavy ones, each asking for 1 / 1.3: of the whole time, 1.3 h(2 / 1.3), distance takes 0.3 / 1.3.
    let heavy = barcelona().app(stream(0, CONTROLLER, 2)).app(stream(1, CONTROLLER, 2)).run();
    let (remote, stall) = (heavy.cpus[0].get(Category::Remote), heavy.cpus[0].get(Category::MemoryStall));
    let law = stretch(2.0 / FAR);
    close(remote.ns() as f64 / 1e9, (FAR - 1.0) * law, "remote");
    close(stall.ns() as f64 / 1e9, law - 1.0, "stall");
}

/// Run times of two tasks with these memory-bound shares on one chip of the E25K, over that of one alone. While
/// a task waits for memory it demands what a core draws, 1.6 GB/s; a profile states the mean at nominal speed.
fn neighbours(shares: [f64; 2], blocking: bool) -> [f64; 2] {
    let mut trial = Trial::on("e25k").free();
    trial.machine.memory.blocking_loads = blocking;
    for (cpu, share) in (0u32..).zip(shares) {
        let profile = MemoryProfile {
            demand: (share * 1.6e9 / 0.3) as u64,
            bound: Some((share * 65_536.0) as u32),
            ..MemoryProfile::NONE
        };
        trial = trial.app(second(cpu, profile));
    }
    let report = trial.run();
    [0, 1].map(|i| seconds(&report, i) * 0.3)
}

#[test]
fn neighbours_with_blocking_loads_meet_by_the_product_of_their_shares() {
    // Two that wait at once demand 3.2 of the chip's 2.4 GB/s: an access takes 4/3 of its time. Task i waits
    // during b_i of its time, and during b_j of that so does task j: both take 1 + b_i b_j / 3, and end
    // together.
    for shares in [[1.0, 1.0], [0.87, 0.87], [0.87, 0.3], [0.5, 0.08], [0.3, 0.3]] {
        let law = 1.0 + shares[0] * shares[1] / 3.0;
        for time in neighbours(shares, true) {
            close(time, law, &format!("{shares:?}"));
        }
    }
    // A neighbour without memory traffic costs nothing, and one with very little next to nothing.
    close(neighbours([0.9, 0.0], true)[0], 1.0, "beside a task in its registers");
    assert!(neighbours([0.9, 0.01], true)[0] < 1.004);
    // Where cores have many loads in flight, the mean demands count: 0.5 x 3.2 GB/s fit.
    for time in neighbours([0.5, 0.5], false) {
        close(time, 1.0, "evenly");
    }
}

/// Time of 20 all-to-all transfers of 400 MB in all, over that of the same work without contention.
fn transfers(order: TransferOrder, per_core: u32) -> f64 {
    let run = |bytes: u64| {
        let settings = [
            ("work", 4_000_000_000),
            ("intervals", 20),
            ("spread", 500),
            ("transfer", bytes),
            ("transfers", 20),
            ("transfer_order", u64::from(order == TransferOrder::Rotated)),
        ];
        Trial::on("barcelona")
            .policy("PIN", &[])
            .app(registry("spmd", &settings, "upc", 16 * per_core))
            .seconds()
    };
    // 16 readers of 4 GB/s each would move 400 MB in 6.25 ms.
    (run(400_000_000) - run(0)) / (20.0 * 400e6 / 16.0 / 4e9)
}

#[test]
fn lock_step_transfers_crowd_their_source_and_oversubscription_relieves_them() {
    let ratios: Vec<f64> = [1, 2, 4].map(|k| transfers(TransferOrder::Sequential, k)).to_vec();
    let rotated: Vec<f64> = [1, 2, 4].map(|k| transfers(TransferOrder::Rotated, k)).to_vec();
    let found = format!("time over that without contention: sequential {ratios:.2?}, rotated {rotated:.2?}");
    assert!((1.8..3.0).contains(&(ratios[0] / rotated[0])), "{found}");
    assert!(ratios[1] < 0.9 * ratios[0] && ratios[2] < 0.8 * ratios[0], "{found}");
    assert!(rotated[1] > rotated[0] && rotated[2] > rotated[0], "{found}");
}

/// Run time of four tasks, two on each of two packages, that read blocks of 100 ms each from all others; each
/// package serves as much as one core draws.
fn served(order: TransferOrder) -> f64 {
    let mut trial = Trial::on("package:2 core:2").free().placed([0, 1, 2, 3]);
    trial.machine.memory =
        Memory { core_bandwidth: CONTROLLER, transfer_bandwidth: CONTROLLER, ..Memory::unlimited() };
    trial.app(app(4, vec![Op::Transfer { block: CONTROLLER / 10, order }], WaitMode::Spin)).seconds()
}

#[test]
fn a_package_serves_the_readers_of_its_blocks_at_its_own_rate() {
    let of = |readers: f64| stretch(readers) * 0.1;
    // In order, no task reads its own block: 1, 2, 3 read from 0, and 0 from 1, all on the first package; then 0 and
    // 1 read from 2, on the other one, and 2 and 3 from 1; then all from 2 and 3.
    close(served(TransferOrder::Sequential), 2.0 * of(4.0) + of(2.0), "in order");
    // Rotated, two read from each package at any time.
    close(served(TransferOrder::Rotated), 3.0 * of(2.0), "rotated");
}
