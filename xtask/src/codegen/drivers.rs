//! Mesa's drivers of GPUs in a folder of their own, over stand-ins for the kernel's part.

use super::loops::{self, HotLoop};
use crate::folders::{root, target_dir};
use crate::process::{capture, run};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A driver whose compiler is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driver {
    /// NVIDIA Ampere.
    Nvk,
    /// AMD RDNA 3.
    Radv,
    /// Apple M1.
    Honeykrisp,
}

impl Driver {
    pub(super) const ALL: [Self; 3] = [Self::Nvk, Self::Radv, Self::Honeykrisp];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nvk => "NVK",
            Self::Radv => "RADV",
            Self::Honeykrisp => "Honeykrisp",
        }
    }

    /// The kinds of adapters that it drives, as `AdapterKind` shows them.
    pub(super) fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Nvk => &["discrete"],
            Self::Radv => &["discrete", "integrated"],
            Self::Honeykrisp => &["integrated"],
        }
    }

    /// Whether it compiles a variant of an op. Of matrix units NVIDIA and AMD have fragments of 16
    /// alone; Apple's are reached by Metal, and this driver has none.
    pub(super) fn takes(self, op: &str, variant: &str) -> bool {
        match op {
            "projection_units" | "gram_units" => {
                self != Self::Honeykrisp && variant.starts_with("(F 16,")
            }
            _ => true,
        }
    }

    pub(super) fn unit_of_occupancy(self) -> &'static str {
        match self {
            Self::Nvk => "warps a multiprocessor",
            Self::Radv => "waves a SIMD",
            Self::Honeykrisp => "threads a core",
        }
    }

    /// The manifest, the stand-in for the kernel's driver, and what each asks for.
    fn parts(
        self,
    ) -> (
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
    ) {
        match self {
            Self::Nvk => (
                "nouveau",
                "nouveau",
                // Chipset 0x172 is Ampere; the stand-in knows no later ones.
                &[
                    ("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1"),
                    ("NOUVEAU_CHIPSET", "172"),
                ],
            ),
            Self::Radv => ("radeon", "amdgpu", &[("AMDGPU_GPU_ID", "navi31")]),
            Self::Honeykrisp => ("asahi", "asahi", &[]),
        }
    }

    fn compiled(self, statistics: &[(&str, &str)], code: &str) -> Result<Compiled> {
        let number = |name: &str| {
            let found = statistics.iter().find(|(known, _)| *known == name);
            let (_, value) = found.with_context(|| format!("no statistic `{name}`"))?;
            value
                .parse::<u64>()
                .with_context(|| format!("{name} is {value}"))
        };
        let (registers, spills, occupancy) = match self {
            Self::Nvk => ("Number of GPRs", "Spills to memory", "Max warps/SM"),
            Self::Radv => ("VGPRs", "Spilled VGPRs", "Subgroups per SIMD"),
            Self::Honeykrisp => ("GPRs", "Spills", "Threads"),
        };
        Ok(Compiled {
            registers: number(registers)?,
            spills: number(spills)?,
            occupancy: number(occupancy)?,
            hot_loop: match self {
                Self::Nvk => loops::nvidia(code),
                Self::Radv => loops::amd(code),
                // It shows no machine code.
                Self::Honeykrisp => None,
            },
        })
    }
}

/// What a driver's compiler made of a variant.
pub(super) struct Compiled {
    /// Registers of a lane.
    pub(super) registers: u64,
    /// Values that go to memory for want of them.
    pub(super) spills: u64,
    /// How much of it runs at a time on a unit of the GPU.
    pub(super) occupancy: u64,
    /// The innermost loop with the most multiply-adds.
    pub(super) hot_loop: Option<HotLoop>,
}

/// The folder of Debian's Mesa that `xtask/codegen/setup.sh` makes.
pub(super) struct Tree(PathBuf);

/// Where the folder is, or would be: `CODEGEN_ROOT`, or the user's cache.
fn place() -> Option<PathBuf> {
    let named = std::env::var_os("CODEGEN_ROOT").map(PathBuf::from);
    let home =
        || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache/bochner-codegen"));
    named.or_else(home)
}

/// What to say where there is none.
pub(super) fn absent() -> String {
    let place = place().map_or("CODEGEN_ROOT".into(), |place| place.display().to_string());
    format!(
        "there are no compilers of GPUs in {place}; `cargo xtask codegen --set-up` unpacks them \
         there (as root, with apt, about 750 MB)"
    )
}

/// Makes the folder where it is not there.
pub(super) fn set_up() -> Result<()> {
    let place = place().context("neither CODEGEN_ROOT nor HOME is set")?;
    let script = root().join("xtask/codegen/setup.sh");
    run(Command::new("sh").arg(script).arg(place))
}

impl Tree {
    pub(super) fn find() -> Option<Self> {
        let tree = place()?.join("trixie");
        tree.join(".ready").exists().then_some(Self(tree))
    }

    fn libraries(&self) -> PathBuf {
        self.0.join("usr/lib/x86_64-linux-gnu")
    }

    /// Has programs that cargo runs load the folder's Vulkan and its lavapipe, the one software
    /// adapter with matrix units, instead of this machine's.
    pub(super) fn run_by(&self, cargo: &mut Command) {
        let loader = self.0.join("lib64/ld-linux-x86-64.so.2");
        let libraries = self.libraries();
        let runner = format!(
            "{} --library-path {}",
            loader.display(),
            libraries.display()
        );
        cargo
            .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner)
            .env(
                "VK_DRIVER_FILES",
                self.0.join("usr/share/vulkan/icd.d/lvp_icd.json"),
            );
    }

    /// Builds the program that asks a driver, against the folder's Vulkan.
    pub(super) fn compiler(&self) -> Result<Compiler<'_>> {
        let program = target_dir().join("codegen-pipelines");
        std::fs::create_dir_all(target_dir())?;
        run(Command::new("cc")
            .args(["-O1", "-Wall", "-o"])
            .arg(&program)
            .arg("-idirafter")
            .arg(self.0.join("usr/include"))
            .arg(root().join("xtask/codegen/pipelines.c"))
            .arg(self.libraries().join("libvulkan.so.1"))
            // The folder's C library, with which it will run, is newer than this machine's.
            .arg("-Wl,--unresolved-symbols=ignore-in-shared-libs"))?;
        let tree = self;
        Ok(Compiler { tree, program })
    }
}

/// Over a stand-in RADV died at the 517th file of one process, which it compiles when asked alone.
const FILES_OF_A_PROCESS: usize = 100;

/// The program that asks a driver what it makes of SPIR-V.
pub(super) struct Compiler<'t> {
    tree: &'t Tree,
    program: PathBuf,
}

impl Compiler<'_> {
    /// What a driver makes of each file; its machine code lies beside the file.
    pub(super) fn compile(&self, driver: Driver, files: &[PathBuf]) -> Result<Vec<Compiled>> {
        let parts = files.chunks(FILES_OF_A_PROCESS);
        let parts: Vec<_> = parts
            .map(|files| self.compile_some(driver, files))
            .collect::<Result<_>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn compile_some(&self, driver: Driver, files: &[PathBuf]) -> Result<Vec<Compiled>> {
        let (manifest, shim, variables) = driver.parts();
        let libraries = self.tree.libraries();
        let manifest = format!("usr/share/vulkan/icd.d/{manifest}_icd.json");
        let mut command = Command::new(self.tree.0.join("lib64/ld-linux-x86-64.so.2"));
        command
            .env_clear()
            .envs(variables.iter().copied())
            .env("XDG_RUNTIME_DIR", "/tmp")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .env("VK_DRIVER_FILES", self.tree.0.join(manifest))
            .arg("--library-path")
            .arg(&libraries)
            .arg("--preload")
            .arg(libraries.join(format!("lib{shim}_noop_drm_shim.so")))
            .arg(&self.program)
            .arg(driver.name())
            .args(files);
        let output = capture(&mut command)?;
        let lines: Vec<&str> = output.lines().collect();
        if lines.len() != files.len() {
            bail!("{} of {} files are answered", lines.len(), files.len());
        }
        let one = |(line, file): (&&str, &PathBuf)| {
            let code = PathBuf::from(format!("{}.{}", file.display(), driver.name()));
            let statistics = statistics(line).with_context(|| file.display().to_string())?;
            driver.compiled(&statistics, &std::fs::read_to_string(code)?)
        };
        lines.iter().zip(files).map(one).collect()
    }
}

/// The names and values of a line of `pipelines.c`.
fn statistics(line: &str) -> Result<Vec<(&str, &str)>> {
    let fields = line.split('\t').skip(1);
    let pair = |field: &'_ str| field.split_once('=').map(|_| ()).is_some();
    if !fields.clone().all(pair) {
        bail!("the driver does not compile it");
    }
    Ok(fields.filter_map(|field| field.split_once('=')).collect())
}
