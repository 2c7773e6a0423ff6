//! Exact lines.

use decide::typed::{Advice, Dialect, Layout, Pages, Place, Program, Quota, Shared, Unit, Waiting, usual};

use super::{Host, bound, cg, layer, there};

fn quota(quota: u64, period: u64) -> Option<Quota> {
    Some(Quota { quota: quota * 1_000_000, period: period * 1_000_000, burst: 0 })
}

#[test]
fn threads_of_openmp() {
    let host = Host::smt();
    let shell = |program| host.one(program, Dialect::Shell);
    let threads = |runtime, wait| Program { threads: layer(runtime, 8, wait), ..cg() };
    assert_eq!(shell(threads("libgomp", None)), ["OMP_NUM_THREADS=8 cg"]);
    let sleep = threads("libgomp", Some(Waiting::Sleep));
    assert_eq!(shell(sleep), ["OMP_NUM_THREADS=8 OMP_WAIT_POLICY=passive cg"]);
    let sleep = threads("openmp", Some(Waiting::Sleep));
    assert_eq!(shell(sleep), ["OMP_NUM_THREADS=8 KMP_BLOCKTIME=0 cg"]);
    let spin = threads("libomp", Some(Waiting::Spin));
    assert_eq!(shell(spin), ["OMP_NUM_THREADS=8 KMP_LIBRARY=turnaround KMP_BLOCKTIME=infinite cg"]);
    let spin = threads("libgomp", Some(Waiting::SpinFor(200_000)));
    assert_eq!(shell(spin), ["OMP_NUM_THREADS=8 GOMP_SPINCOUNT=10000 cg"]);
    let spin = threads("libomp", Some(Waiting::SpinFor(50_000)));
    assert_eq!(shell(spin), ["OMP_NUM_THREADS=8 KMP_BLOCKTIME=50us cg"]);
}

/// What has a setting of its own for the number of its jobs, by its name or because it is a build.
#[test]
fn builds_and_servers_have_options_and_files_of_their_own() {
    let host = Host::smt();
    let of = |name: &str, runtime, place| {
        let program = Program { name: name.into(), threads: layer(runtime, 8, None), place, ..cg() };
        host.one(program, Dialect::Shell)
    };
    assert_eq!(of("make", "make", None), ["make -j 8"]);
    assert_eq!(of("ninja", "ninja", None), ["ninja -j 8"]);
    assert_eq!(of("cargo", "cargo", None), ["CARGO_BUILD_JOBS=8 cargo"]);
    assert_eq!(of("nginx", "nginx", None), ["# nginx.conf: worker_processes 8"]);
    let build = of("build", "make", None);
    let option = "# build: as an option: make -j 8, ninja -j 8, cargo build -j 8";
    assert_eq!(build, ["MAKEFLAGS=-j8 build", option]);
    let bound = of("make", "make", bound(Layout::Close, Unit::Cpu));
    assert_eq!(bound[0], "taskset -c 0-3,8-11 make -j 8");
    assert!(bound[1].contains("its processes are not bound one by one"), "{bound:?}");
    let program = Program { name: "make".into(), threads: layer("make", 8, None), ..cg() };
    assert_eq!(host.one(program, Dialect::Docker), ["docker run -e MAKEFLAGS=-j8 make"]);
}

#[test]
fn lines_with_numbers_of_cpus_are_known() {
    let host = Host::smt();
    let names = |program: Program, dialect| {
        let advice = Advice { programs: vec![program], ..Advice::default() };
        decide::typed::lines(&advice, &host.node(), &[dialect]).iter().any(decide::typed::Line::names_cpus)
    };
    let threads =
        |layout, unit| Program { threads: layer("libgomp", 8, None), place: bound(layout, unit), ..cg() };
    assert!(names(threads(Layout::Even, Unit::Cpu), Dialect::Shell));
    assert!(!names(threads(Layout::Even, Unit::Core), Dialect::Shell));
    assert!(!names(threads(Layout::Even, Unit::Core), Dialect::Kubernetes));
    assert!(names(Program { cpus: Some(vec![0, 1]), ..cg() }, Dialect::Docker));
}

#[test]
fn places_of_openmp_have_the_numbers_of_linux() {
    let host = Host::smt();
    let at = |threads, layout, unit| {
        let program =
            Program { threads: there("libgomp", threads, None), place: bound(layout, unit), ..cg() };
        host.one(program, Dialect::Shell)
    };
    let is = |places: &str| vec![format!("OMP_PROC_BIND=close OMP_PLACES={places} cg")];
    assert_eq!(at(8, Layout::Even, Unit::Cpu), is("'{0}:8'"));
    assert_eq!(at(4, Layout::Close, Unit::Cpu), is("threads"));
    assert_eq!(at(8, Layout::Even, Unit::Core), is("cores"));
    assert_eq!(at(4, Layout::Spread, Unit::Cpu), is("'{0},{4},{1},{5}'"));
    assert_eq!(at(2, Layout::Spread, Unit::Package), is("sockets"));
    assert_eq!(at(4, Layout::Spread, Unit::Core), is("'{0,8},{4,12},{1,9},{5,13}'"));
    assert_eq!(at(2, Layout::Spread, Unit::Core), is("'{0,8},{4,12}'"));
    assert_eq!(at(10, Layout::Even, Unit::Cpu), is("'{0}:10'"));
    assert_eq!(at(3, Layout::List(vec![3, 0, 3]), Unit::Cpu), is("'{9},{0},{9}'"));
}

#[test]
fn unbound_threads_have_no_places() {
    let host = Host::smt();
    let program = Program { threads: there("libomp", 8, None), place: Some(Place::Unbound), ..cg() };
    assert_eq!(host.one(program, Dialect::Shell), ["OMP_PROC_BIND=false cg"]);
}

#[test]
fn masks_and_memory() {
    let host = Host::smt();
    let mask = Program { cpus: Some((0..8).collect()), ..cg() };
    assert_eq!(host.one(mask.clone(), Dialect::Shell), ["taskset -c 0-3,8-11 cg"]);
    let nice = Program { nice: Some(10), ..mask.clone() };
    assert_eq!(host.one(nice, Dialect::Shell), ["taskset -c 0-3,8-11 nice -n 10 cg"]);
    let pages = Program { pages: Some(Pages::Interleaved), ..mask.clone() };
    assert_eq!(host.one(pages, Dialect::Shell), ["numactl --physcpubind=0-3,8-11 --interleave=all cg"]);
    let pages = Program { pages: Some(Pages::Nodes(vec![0])), ..cg() };
    assert_eq!(host.one(pages, Dialect::Shell), ["numactl --membind=0 cg"]);
    let text = ["echo 0-3,8-11 > /sys/fs/cgroup/cg/cpuset.cpus"];
    assert_eq!(host.one(mask.clone(), Dialect::Cgroup), text);
    assert_eq!(host.one(mask.clone(), Dialect::Systemd), ["systemd-run --scope -p AllowedCPUs=0-3,8-11 cg"]);
    let first = Program { one_thread_per_core: true, ..cg() };
    assert_eq!(host.one(first.clone(), Dialect::Shell), ["taskset -c 0-7 cg"]);
    assert_eq!(host.one(first, Dialect::Slurm), ["srun --ntasks=1 --hint=nomultithread cg"]);
    let own = Program { threads: there("libgomp", 4, None), cpus: Some(vec![0, 2]), ..cg() };
    let text = ["srun --ntasks=1 --cpus-per-task=2 --cpu-bind=mask_cpu:0x3 cg"];
    assert_eq!(host.one(own, Dialect::Slurm)[..1], text);
}

#[test]
fn processes_of_open_mpi() {
    let host = Host::smt();
    let mpirun = |program| host.one(program, Dialect::OpenMpi);
    let job = |number, wait| Program { processes: layer("openmpi", number, wait), ..cg() };
    assert_eq!(mpirun(job(4, None)), ["mpirun -np 4 cg"]);
    assert_eq!(mpirun(job(16, None)), ["mpirun -np 16 --oversubscribe cg"]);
    assert_eq!(mpirun(job(4, Some(Waiting::Yield))), ["mpirun -np 4 --mca mpi_yield_when_idle 1 cg"]);
    let place = |layout, unit| Program { place: bound(layout, unit), ..job(4, None) };
    assert_eq!(mpirun(place(Layout::Even, Unit::Core)), ["mpirun -np 4 --map-by core --bind-to core cg"]);
    let text = ["mpirun -np 4 --map-by hwthread --bind-to hwthread cg"];
    assert_eq!(mpirun(place(Layout::Close, Unit::Cpu)), text);
    assert_eq!(mpirun(place(Layout::Spread, Unit::Core)), ["mpirun -np 4 --map-by numa --bind-to core cg"]);
    assert_eq!(mpirun(place(Layout::Spread, Unit::Node)), ["mpirun -np 4 --map-by numa --bind-to numa cg"]);
    let text = "mpirun -np 4 --bind-to none bash -c 'c=(0 4 1 5); exec taskset -c \
        ${c[OMPI_COMM_WORLD_LOCAL_RANK]} \"$0\" \"$@\"' cg";
    assert_eq!(mpirun(place(Layout::Spread, Unit::Cpu)), [text]);
    let free = Program { place: Some(Place::Unbound), ..job(4, None) };
    assert_eq!(mpirun(free), ["mpirun -np 4 --bind-to none cg"]);
    let masked = Program { cpus: Some((0..8).collect()), ..job(4, None) };
    assert_eq!(mpirun(masked), ["taskset -c 0-3,8-11 mpirun -np 4 --bind-to none cg"]);
    let env = host.one(job(4, Some(Waiting::Yield)), Dialect::Slurm);
    assert_eq!(env, ["OMPI_MCA_mpi_yield_when_idle=1 srun --ntasks=4 cg"]);
}

#[test]
fn processes_of_intel_mpi_and_mpich() {
    let host = Host::smt();
    let job = |number, wait| Program { processes: layer("mpi", number, wait), ..cg() };
    let intel = |program| host.one(program, Dialect::IntelMpi);
    assert_eq!(intel(job(4, Some(Waiting::Sleep))), ["I_MPI_WAIT_MODE=1 mpirun -np 4 cg"]);
    assert_eq!(intel(job(4, Some(Waiting::Yield))), ["I_MPI_THREAD_YIELD=2 mpirun -np 4 cg"]);
    let place = |number, layout, unit| Program { place: bound(layout, unit), ..job(number, None) };
    let text = ["I_MPI_PIN_PROCESSOR_LIST=0,4,1,5 mpirun -np 4 cg"];
    assert_eq!(intel(place(4, Layout::Spread, Unit::Cpu)), text);
    let text = ["I_MPI_PIN_DOMAIN='[101,202]' mpirun -np 2 cg"];
    assert_eq!(intel(place(2, Layout::Even, Unit::Core)), text);
    let free = Program { place: Some(Place::Unbound), ..job(4, None) };
    assert_eq!(intel(free), ["I_MPI_PIN=off mpirun -np 4 cg"]);
    let mpich = |program| host.one(program, Dialect::Mpich);
    assert_eq!(mpich(place(2, Layout::Even, Unit::Core)), ["mpiexec -n 2 -bind-to user:0+8,1+9 cg"]);
    let spin = Program { processes: there("mpich2", 2, Some(Waiting::Spin)), ..cg() };
    assert_eq!(mpich(spin), ["MPIR_CVAR_POLLS_BEFORE_YIELD=0 mpiexec -n 2 cg"]);
}

#[test]
fn processes_with_threads() {
    let host = Host::smt();
    let hybrid = |layout, unit| Program {
        processes: layer("openmpi", 2, None),
        threads: layer("libgomp", 4, Some(Waiting::Sleep)),
        place: bound(layout, unit),
        ..cg()
    };
    let text = "OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive OMP_PROC_BIND=close OMP_PLACES=cores mpirun -np 2 \
        --map-by slot:PE=4 --bind-to core cg";
    assert_eq!(host.one(hybrid(Layout::Even, Unit::Core), Dialect::OpenMpi), [text]);
    let text = "OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive OMP_PROC_BIND=close OMP_PLACES=cores srun \
        --ntasks=2 --cpus-per-task=4 --cpu-bind=mask_cpu:0xf0f,0xf0f0 cg";
    let typed = host.one(hybrid(Layout::Even, Unit::Core), Dialect::Slurm);
    assert_eq!(typed[0], text);
    assert_eq!(typed[1], "# cg: --cpu-bind names cpus of the node, so the job needs all of them");
}

#[test]
fn slurm_places_and_shares() {
    let host = Host::smt();
    let job = |number, place| Program { processes: layer("openmpi", number, None), place, ..cg() };
    let free = host.one(job(4, Some(Place::Unbound)), Dialect::Slurm);
    assert_eq!(free, ["srun --ntasks=4 --cpu-bind=none cg"]);
    let even = host.one(job(20, bound(Layout::Even, Unit::Cpu)), Dialect::Slurm);
    let list = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15";
    assert_eq!(even[0], format!("srun --ntasks=20 --overcommit --cpu-bind=map_cpu:{list} cg"));
    let advice = Advice { programs: vec![job(4, None)], shared: Some(Shared::Cores(2)), ..Advice::default() };
    let typed = host.typed(&advice, &[Dialect::Slurm]);
    assert_eq!(typed, ["srun --ntasks=4 --overlap cg", "# slurm.conf, partition: OverSubscribe=FORCE:2"]);
    let advice = Advice { shared: Some(Shared::Nothing), ..advice };
    assert_eq!(host.typed(&advice, &[Dialect::Slurm]), ["srun --ntasks=4 --exclusive cg"]);
}

#[test]
fn limits_and_weights() {
    let host = Host::small();
    let go = Program {
        name: "api".into(),
        threads: layer("go", 2, None),
        quota: quota(150, 100),
        weight: Some(50),
        ..Program::default()
    };
    let text = ["GOMAXPROCS=2 systemd-run --scope -p CPUQuota=150% -p CPUWeight=50 api"];
    assert_eq!(host.one(go.clone(), Dialect::Shell), text);
    let typed = host.one(Program { threads: None, ..go.clone() }, Dialect::Cgroup);
    let files =
        ["echo '150000 100000' > /sys/fs/cgroup/api/cpu.max", "echo 50 > /sys/fs/cgroup/api/cpu.weight"];
    assert_eq!(typed, files);
    let typed = host.one(Program { weight: Some(100), ..go.clone() }, Dialect::Docker);
    let text = "docker run --cpu-period=100000 --cpu-quota=150000 --cpu-shares=1024 -e GOMAXPROCS=2 api";
    assert_eq!(typed, [text]);
    let typed = host.one(go, Dialect::Kubernetes);
    let yaml = [
        "- name: \"api\"",
        "  env:",
        "  - { name: GOMAXPROCS, value: \"2\" }",
        "  resources:",
        "    requests: { cpu: \"412m\" }",
        "    limits: { cpu: \"1500m\" }",
    ];
    assert_eq!(typed, yaml);
    let short = Program { quota: quota(20, 10), ..cg() };
    let text = ["systemd-run --scope -p CPUQuota=200% -p CPUQuotaPeriodSec=10ms cg"];
    assert_eq!(host.one(short.clone(), Dialect::Systemd), text);
    let yaml = host.one(short, Dialect::Kubernetes);
    assert_eq!(yaml[2..], ["    limits: { cpu: \"2\" }", "# KubeletConfiguration: cpuCFSQuotaPeriod: 10ms"]);
}

#[test]
fn settings_that_programs_share_are_said_once() {
    let host = Host::small();
    let named = |name: &str, runtime, number, wait| Program {
        name: name.into(),
        threads: layer(runtime, number, wait),
        ..Program::default()
    };
    let sleep = Some(Waiting::Sleep);
    let programs = vec![named("cg", "libgomp", 4, sleep), named("ep", "libomp", 2, sleep)];
    let typed = host.typed(&Advice { programs, ..Advice::default() }, &[Dialect::Shell]);
    assert_eq!(typed, ["export OMP_WAIT_POLICY=passive", "OMP_NUM_THREADS=4 cg", "OMP_NUM_THREADS=2 ep"]);
    let same = vec![named("cg", "libgomp", 4, sleep), named("ep", "libgomp", 4, sleep)];
    let typed = host.typed(&Advice { programs: same, ..Advice::default() }, &[Dialect::Shell]);
    assert_eq!(typed, ["export OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive"]);
    // The third one has the variable as well and stays as it is.
    let mut third = named("ft", "libgomp", 4, None);
    third.threads = there("libgomp", 4, None);
    let three = vec![named("cg", "libgomp", 4, sleep), named("ep", "libgomp", 4, sleep), third];
    let typed = host.typed(&Advice { programs: three, ..Advice::default() }, &[Dialect::Shell]);
    let both = "OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive";
    assert_eq!(typed, [format!("{both} cg"), format!("{both} ep")]);
    let weight = |name: &str| Program { name: name.into(), weight: Some(50), ..Program::default() };
    let groups = Advice { programs: vec![weight("a"), weight("b")], ..Advice::default() };
    let text = ["echo 50 | tee /sys/fs/cgroup/a/cpu.weight /sys/fs/cgroup/b/cpu.weight"];
    assert_eq!(host.typed(&groups, &[Dialect::Cgroup]), text);
}

#[test]
fn leaving_it_as_it_is_has_no_lines() {
    let host = Host::small();
    let programs = vec![
        Program { threads: there("libgomp", 4, None), ..cg() },
        Program { processes: there("openmpi", 8, None), ..cg() },
    ];
    assert!(host.typed(&Advice { programs, ..Advice::default() }, &Dialect::ALL).is_empty());
}

#[test]
fn programs_that_take_turns_wait_for_each_other() {
    let host = Host::small();
    let ep = Program { name: "ep".into(), processes: there("openmpi", 2, None), ..Program::default() };
    let advice = Advice { programs: vec![cg(), ep], turns: true, ..Advice::default() };
    assert_eq!(host.typed(&advice, &[Dialect::Shell]), ["cg &&", "ep"]);
}

#[test]
fn what_cannot_be_typed_is_said() {
    let host = Host::small();
    let program = Program { threads: there("libgomp", 4, Some(Waiting::Yield)), ..cg() };
    let text = ["# cg: no setting of libgomp is known by which threads yield and never sleep"];
    assert_eq!(host.one(program, Dialect::Shell), text);
    let program = Program { weight: Some(20), ..cg() };
    assert_eq!(host.one(program, Dialect::Slurm), ["# cg: its weight cannot be set here (slurm)"]);
    let spread = Program { threads: there("block", 2, None), place: bound(Layout::Even, Unit::Cpu), ..cg() };
    let note = "# cg: its threads are not bound one by one; they move inside the cpus of all";
    assert_eq!(host.one(spread, Dialect::Shell), ["taskset -c 0-1 cg", note]);
}

#[test]
fn each_program_is_started_once_in_the_usual_dialects() {
    let host = Host::small();
    let api = Program { name: "api".into(), threads: layer("go", 2, None), ..Program::default() };
    let job = Program { processes: layer("openmpi", 4, None), ..cg() };
    let advice = Advice { programs: vec![job, api], ..Advice::default() };
    assert_eq!(usual(&advice), [Dialect::Shell, Dialect::OpenMpi]);
    assert_eq!(host.typed(&advice, &usual(&advice)), ["GOMAXPROCS=2 api", "mpirun -np 4 cg"]);
}

/// What the libraries do without any setting is typed as its value, as another one may be set.
#[test]
fn the_default_way_to_wait_is_typed_for_all_runtimes() {
    let host = Host::small();
    let wait = Some(Waiting::Default);
    let threads = |runtime| host.one(Program { threads: there(runtime, 4, wait), ..cg() }, Dialect::Shell);
    assert_eq!(threads("libgomp"), ["GOMP_SPINCOUNT=300000 cg", "# cg: with OMP_WAIT_POLICY unset"]);
    assert_eq!(threads("libomp"), ["KMP_LIBRARY=throughput KMP_BLOCKTIME=200 cg"]);
    assert_eq!(threads("open64"), ["O64_OMP_SPIN_COUNT=20000 cg"]);
    let text = ["# cg: set nothing by which threads of block wait in another way"];
    assert_eq!(threads("block"), text);
    let ranks = |number| {
        let program = Program { processes: there("openmpi", number, wait), ..cg() };
        host.one(program, Dialect::OpenMpi)
    };
    assert_eq!(ranks(4), ["mpirun -np 4 --mca mpi_yield_when_idle 0 cg"]);
    assert_eq!(ranks(5), ["mpirun -np 5 --oversubscribe --mca mpi_yield_when_idle 1 cg"]);
}

#[test]
fn every_way_to_wait_of_every_runtime_is_typed_or_said() {
    let host = Host::small();
    for decide::ways::Ways { runtime, .. } in decide::ways::WAYS {
        let processes = *runtime == "openmpi";
        for way in decide::ways::all(runtime) {
            let layer = there(runtime, 4, Some(*way));
            let program = if processes {
                Program { processes: layer, ..cg() }
            } else {
                Program { threads: layer, ..cg() }
            };
            for dialect in Dialect::ALL {
                let lines = host.one(program.clone(), dialect);
                assert!(!lines.is_empty(), "{runtime} {way:?} {dialect:?}");
            }
        }
    }
}

#[test]
fn a_launcher_of_another_library_is_named() {
    let host = Host::small();
    let job = Program { processes: layer("openmpi", 4, None), place: Some(Place::Unbound), ..cg() };
    let text = "# cg: processes of openmpi cannot be set by intel-mpi: ask for open-mpi and slurm";
    assert_eq!(host.one(job, Dialect::IntelMpi), [text]);
    let team = Program { threads: layer("libgomp", 4, None), ..cg() };
    let text = "# cg: a program without processes of MPI cannot be set by mpich: ask for shell and slurm";
    assert_eq!(host.one(team, Dialect::Mpich), [text]);
}
