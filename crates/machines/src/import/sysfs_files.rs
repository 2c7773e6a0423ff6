//! The small files of sysfs and procfs below a directory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bitmap::Bitmap;
use super::found::MAX_CPUS;

/// Most bytes of a file that are read: `/proc/cpuinfo` of a large machine is longer, and its beginning
/// suffices.
const MAX_BYTES: u64 = 1 << 20;
/// Most entries of a directory that are read.
const MAX_ENTRIES: usize = 1 << 20;

/// Files below a directory.
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// A path for sources and messages.
    pub(super) fn shown(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    /// The text of a file; `None` if there is none, or if it cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        // A captured tree may contain anything: a pipe would never end.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        // The end of a text of C, which some kernels write, too.
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            bytes.truncate(end);
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The error about a file that is not as Linux writes it.
    pub(super) fn refused(&self, path: &str, word: &str, expected: &str) -> String {
        let short: String = word.trim().chars().take(40).collect();
        format!("{}:1:1: `{short}`: Linux writes {expected}", self.shown(path))
    }

    /// The whole number in a file; -1, which Linux writes for "unknown", is none.
    pub(super) fn number(&self, path: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(path) else { return Ok(None) };
        match text.trim() {
            // An attribute of the running kernel that cannot be copied leaves an empty file.
            "-1" | "" => Ok(None),
            word => word.parse().map(Some).map_err(|_| self.refused(path, word, "a whole number")),
        }
    }

    /// The size in a file, as `32K`.
    pub(super) fn kibibytes(&self, path: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(path) else { return Ok(None) };
        let word = text.trim();
        let (digits, shift) = match word.char_indices().last() {
            Some((at, 'K')) => (&word[..at], 10),
            Some((at, 'M')) => (&word[..at], 20),
            Some((at, 'G')) => (&word[..at], 30),
            _ => (word, 0),
        };
        let size = digits.parse::<u64>().ok().and_then(|size| size.checked_mul(1 << shift));
        size.map(Some).ok_or_else(|| self.refused(path, word, "a size, as `32K`"))
    }

    /// The set of cpus in a file.
    pub(super) fn set(&self, path: &str) -> Result<Option<Bitmap>, String> {
        self.text(path).map(|text| self.parse(path, &text)).transpose()
    }

    /// The set of cpus of a list, or of a map (`00000000,0000000f`), which older kernels have alone.
    pub(super) fn list_or_map(&self, list: &str, map: &str) -> Result<Option<Bitmap>, String> {
        if let Some(set) = self.set(list)? {
            return Ok(Some(set));
        }
        let Some(text) = self.text(map) else { return Ok(None) };
        let set = Bitmap::hwloc(text.trim());
        let set =
            set.map_err(|_| self.refused(map, &text, "words of cpus in hexadecimal, as `00000000,0000000f`"));
        set.map(Some)
    }

    /// A set of cpus in the form of Linux.
    pub(super) fn parse(&self, path: &str, text: &str) -> Result<Bitmap, String> {
        Bitmap::linux(text)
            .map_err(|_| self.refused(path, text, &format!("a list of cpus below {MAX_CPUS}, as `0-3,8`")))
    }

    /// The numbers of the entries of a directory that are called `prefix` and a number, rising.
    pub(super) fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.root.join(path)) else { return Vec::new() };
        let mut numbers: Vec<u32> = entries
            .take(MAX_ENTRIES)
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                let digits = name.to_str()?.strip_prefix(prefix)?;
                let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                digits.parse().ok().filter(|number| plain && (*number as usize) < MAX_CPUS)
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}
