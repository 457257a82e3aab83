//! Keys: the rights and limits of each client. A file has a line for each key: its name, its rights, the
//! SHA-256 of the key, and limits if they differ from those of the service.
//!
//! A key has 256 random bits, so a plain hash suffices: a slow hash protects only secrets that can be
//! guessed. Each request compares its key with all digests, in constant time.

use std::collections::HashSet;
use std::fmt::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use tokio::sync::Semaphore;

use crate::error::{Result, ServeError};

/// The rights of a key. Each right includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rights {
    /// To query, list and show; to compare all documents; to see figures.
    Read,
    /// Also to add and remove documents.
    Write,
    /// Also to compact the database, and to see everybody's jobs.
    Admin,
}

impl Rights {
    /// The name of the right in the file and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Rights {
    type Err = &'static str;

    fn from_str(name: &str) -> std::result::Result<Self, Self::Err> {
        let all = [Self::Read, Self::Write, Self::Admin];
        all.into_iter().find(|rights| rights.name() == name).ok_or("expected read, write or admin")
    }
}

/// The beginning of each key, by which people and scanners for leaked secrets recognise it.
const PREFIX: &str = "fpdb_";

/// Makes a key. Returns the key, and its line for the key file.
///
/// # Errors
/// [`ServeError::KeyName`] for characters other than letters, digits, `.`, `_` and `-`;
/// [`ServeError::System`] if the system has no random bytes.
pub fn new_key(name: &str, rights: Rights) -> Result<(String, String)> {
    if !is_name(name) {
        return Err(ServeError::KeyName { name: name.to_owned() });
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)
        .map_err(|error| ServeError::system("get random bytes")(std::io::Error::other(error)))?;
    let key = format!("{PREFIX}{}", hexadecimal(&secret));
    let line = format!("{name} {} {}", rights.name(), hexadecimal(&Sha256::digest(&key)));
    Ok((key, line))
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn digest_of(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(digest)
}

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The name of the key; empty without keys.
    pub(crate) name: Arc<str>,
    pub(crate) rights: Rights,
    /// Permits for concurrent requests of this key; `None` without keys.
    pub(crate) room: Option<Arc<Semaphore>>,
    /// Room for the bodies of this key's requests in memory, in KiB; `None` without keys.
    pub(crate) bodies: Option<Arc<Semaphore>>,
    /// Limits the requests per minute of this key; `None` without a limit.
    pub(crate) rate: Option<Arc<DefaultDirectRateLimiter>>,
}

/// The limits of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyLimits {
    /// Maximum number of concurrent requests.
    pub(crate) per_key: usize,
    /// Maximum number of requests per minute; `None` for any number.
    pub(crate) per_minute: Option<NonZeroU32>,
    /// Maximum bytes of bodies in memory.
    pub(crate) bodies: usize,
}

impl KeyLimits {
    /// Sets a limit from `NAME=NUMBER`; `None` if `word` does not have this form.
    fn set(&mut self, word: &str) -> Option<()> {
        match word.split_once('=')? {
            ("per_key", number) => self.per_key = number.parse().ok().filter(|&number| number > 0)?,
            ("per_minute", number) => self.per_minute = Some(number.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

struct Key {
    identity: Identity,
    digest: [u8; 32],
}

/// The keys of a service.
pub(crate) struct Keys {
    /// The file of keys. `None`: everybody has all rights.
    file: Option<PathBuf>,
    limits: KeyLimits,
    keys: RwLock<Vec<Key>>,
}

impl Keys {
    /// Reads the keys, if there is a file. `limits` apply to keys without limits of their own.
    pub(crate) fn open(file: Option<&Path>, limits: KeyLimits) -> Result<Self> {
        let keys = Self { file: file.map(Path::to_owned), limits, keys: RwLock::default() };
        keys.reload()?;
        Ok(keys)
    }

    /// Reads the file again. Returns false if there is no file. After an error the previous keys remain
    /// valid.
    pub(crate) fn reload(&self) -> Result<bool> {
        let Some(path) = &self.file else { return Ok(false) };
        let read = read(path, self.limits)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(true)
    }

    /// The owner of a key; `None` if the key is unknown.
    pub(crate) fn identify(&self, key: Option<&str>) -> Option<Identity> {
        if self.file.is_none() {
            return Some(Identity { name: "".into(), rights: Rights::Admin, room: None, bodies: None, rate: None });
        }
        let digest: [u8; 32] = Sha256::digest(key?).into();
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        // Index 0 stands for no key. No branch depends on a digest until all are compared.
        let mut found = 0u64;
        for (index, key) in (1u64..).zip(keys.iter()) {
            found.conditional_assign(&index, key.digest.ct_eq(&digest));
        }
        let index = usize::try_from(found).ok()?.checked_sub(1)?;
        keys.get(index).map(|key| key.identity.clone())
    }

    /// True if requests need a key.
    pub(crate) fn are_needed(&self) -> bool {
        self.file.is_some()
    }
}

fn read(path: &Path, limits: KeyLimits) -> Result<Vec<Key>> {
    let text = std::fs::read_to_string(path).map_err(ServeError::read(path))?;
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_err(ServeError::read(path))?.permissions().mode();
        if mode & 0o022 != 0 {
            return Err(ServeError::OpenKeyFile { path: path.to_owned() });
        }
    }
    let (mut keys, mut names) = (Vec::new(), HashSet::new());
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let not_a_key = || ServeError::NotAKey { path: path.to_owned(), line: number };
        let words: Vec<_> = line.split_whitespace().collect();
        let [name, rights, digest, ref own_limits @ ..] = words[..] else { return Err(not_a_key()) };
        let mut limits = limits;
        own_limits.iter().try_for_each(|word| limits.set(word)).ok_or_else(not_a_key)?;
        let (Ok(rights), Some(digest), true) = (rights.parse(), digest_of(digest), is_name(name)) else {
            return Err(not_a_key());
        };
        if !names.insert(name.to_owned()) {
            return Err(ServeError::KeyNamedTwice { path: path.to_owned(), name: name.to_owned() });
        }
        let permits = |number: usize| Some(Arc::new(Semaphore::new(number.min(Semaphore::MAX_PERMITS))));
        let (room, bodies) = (permits(limits.per_key), permits(limits.bodies.div_ceil(1 << 10)));
        let rate = limits.per_minute.map(|number| Arc::new(RateLimiter::direct(Quota::per_minute(number))));
        keys.push(Key { identity: Identity { name: name.into(), rights, room, bodies, rate }, digest });
    }
    if keys.is_empty() {
        return Err(ServeError::NoKeys { path: path.to_owned() });
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: KeyLimits = KeyLimits { per_key: 2, per_minute: None, bodies: 1 << 10 };

    #[test]
    fn a_key_is_known_by_its_digest_and_reloaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let (first, first_line) = new_key("alice", Rights::Read).unwrap();
        let (second, second_line) = new_key("bob", Rights::Admin).unwrap();
        assert!(!first_line.contains(&first) && first != second);
        std::fs::write(&path, format!("\u{feff}# keys\n{first_line}\n\n{second_line}\n")).unwrap();
        let keys = Keys::open(Some(&path), LIMITS).unwrap();
        let rights = |key: &str| keys.identify(Some(key)).map(|found| (found.name.to_string(), found.rights));
        assert_eq!(rights(&first), Some(("alice".into(), Rights::Read)));
        assert_eq!(rights(&second), Some(("bob".into(), Rights::Admin)));
        assert_eq!(rights(&first[..first.len() - 1]), None);
        assert_eq!(rights(""), None);
        assert!(keys.identify(None).is_none());
        // If the file is not a key file, the keys stay as they were.
        std::fs::write(&path, "alice read 00\n").unwrap();
        assert!(matches!(keys.reload(), Err(ServeError::NotAKey { line: 1, .. })));
        assert!(rights(&first).is_some());
        std::fs::write(&path, second_line).unwrap();
        keys.reload().unwrap();
        assert_eq!(rights(&first), None);
    }

    #[test]
    fn a_key_may_have_limits_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let (plain, plain_line) = new_key("a", Rights::Read).unwrap();
        let (bounded, bounded_line) = new_key("b", Rights::Read).unwrap();
        std::fs::write(&path, format!("{plain_line}\n{bounded_line} per_key=7 per_minute=3\n")).unwrap();
        let keys = Keys::open(Some(&path), LIMITS).unwrap();
        let of = |key: &str| keys.identify(Some(key)).unwrap();
        assert_eq!(of(&plain).room.unwrap().available_permits(), 2);
        assert!(of(&plain).rate.is_none());
        assert_eq!(of(&bounded).room.unwrap().available_permits(), 7);
        // All identifications of one key share its limit.
        let allowed = (0..10).filter(|_| of(&bounded).rate.unwrap().check().is_ok()).count();
        assert_eq!(allowed, 3);
    }

    #[test]
    fn files_that_are_no_key_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let (_, line) = new_key("a", Rights::Write).unwrap();
        let opened = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Keys::open(Some(&path), LIMITS).map(|_| ()).unwrap_err()
        };
        assert!(matches!(opened(""), ServeError::NoKeys { .. }));
        assert!(matches!(opened("a all 00"), ServeError::NotAKey { line: 1, .. }));
        for wrong in ["more", "per_key=0", "per_minute=0", "per_minute=x", "per_hour=1"] {
            assert!(matches!(opened(&format!("{line} {wrong}")), ServeError::NotAKey { line: 1, .. }), "{wrong}");
        }
        assert!(matches!(opened(&format!("{line} more")), ServeError::NotAKey { line: 1, .. }));
        assert!(matches!(opened(&format!("{line}\n{line}")), ServeError::KeyNamedTwice { .. }));
        assert!(matches!(new_key("a b", Rights::Read), Err(ServeError::KeyName { .. })));
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::write(&path, &line).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
            assert!(matches!(Keys::open(Some(&path), LIMITS), Err(ServeError::OpenKeyFile { .. })));
        }
    }
}
