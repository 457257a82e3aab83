//! Profile: the settings that decide which fingerprints a document has.
//!
//! A database keeps the profile it was created with, because fingerprints of different profiles cannot be
//! compared. The profile also gives the *guarantee* t = w + k - 1. Two texts that share a run of at least t
//! symbols share a fingerprint (Schleimer et al. 2003, Lemma 1). The file is long because a profile is one
//! list of settings, each with its name, its checks and its JSON.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Errors in the settings of a profile, or of a query window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// A parameter is outside its range, or is not one of the allowed words.
    InvalidParameter {
        /// The parameter, as a noun phrase.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// The query window is smaller than the profile's w. Only a window of w or more selects a subset of the
    /// fingerprints of the profile.
    WindowTooSmall {
        /// The window asked for.
        asked: u32,
        /// The profile's w.
        stored: u32,
    },
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidParameter { name, value, expected } => {
                write!(f, "{name} cannot be {value}: expected {expected}")
            }
            Self::WindowTooSmall { asked, stored } => write!(f, "window {asked} is smaller than w = {stored}"),
        }
    }
}

impl std::error::Error for ProfileError {}

/// Version of the symbol values, the k-gram hash and the normalisation of text.
///
/// It changes whenever the same text would get other hashes. The profile stores it. Source code has its own
/// version: see [`Unit::hash_version`].
pub(crate) const HASH_VERSION: u8 = 1;

/// Version of the tokens of source code. Version 1 took tokens from syntax trees; version 2 takes them from
/// lexers. Version 1 is not supported, since it needs sixteen parsers.
const TOKEN_HASH_VERSION: u8 = 2;

/// Version of the tokens of source code in two views. The symbols are those of version 2. The lowest bit of a
/// hash names its view.
const VIEWS_HASH_VERSION: u8 = 3;

/// The kind of a symbol of the normalised text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A letter or digit of any script. Case and compatibility forms are folded.
    Char,
    /// A word. Case and compatibility forms are folded.
    Word,
    /// A byte of the file, unchanged.
    Byte,
    /// A token of source code. All names are the same token. Comments, imports and layout give no token.
    Token,
}

/// The rule that decides which runs of characters count as words, for [`Unit::Word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordRule {
    /// Letters only. Every other character separates words (Lyon, Malcolm and Dickerson 2001, section 7).
    Letters,
    /// Unicode words (UAX #29) that contain a letter or a digit: `don't` and `3.14` are one word each.
    Unicode,
}

/// The rule that decides which k-gram hashes become fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// Robust winnowing (Schleimer et al. 2003, Definition 3).
    Robust,
    /// Winnowing: the rightmost minimum of each window (Definition 1).
    Plain,
    /// The hashes that are 0 mod p (section 2.3). This gives no guarantee.
    Mod(u64),
    /// Safe 0 mod p (section 3.1.2): adds hashes so that every window has a fingerprint.
    SafeMod(u64),
    /// All k-grams, which is a window of w = 1.
    All,
}

/// A view of a document of source code: one way to read symbols from it. Each view has fingerprints of its
/// own, and the hashes of two views are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The tokens of the language. All names are the same token.
    Structure,
    /// The text as written: its words and marks, comments included. Case and compatibility forms are folded.
    Text,
}

/// The views that a profile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Views {
    /// One view, whose hashes are not marked.
    Unmarked,
    /// Both views. `k` and `w` are those of the text as written.
    Both { k: u32, w: u32 },
    /// Only this view, one of two. Its hashes are marked.
    One(View),
}

/// Unit, k, w and selection, with the version of the hash.
///
/// A profile of source code can have two views: see [`with_text_view`](Self::with_text_view). Its unit, k and
/// w are then those of the structure.
///
/// A profile is always valid: [`Profile::new`] checks the settings, and its fields are private.
///
/// ```
/// # use fpdb_kernel::profile as fpdb;
/// use fpdb::{Profile, Selection, Unit, WordRule};
///
/// assert!(Profile::new(Unit::Char, WordRule::Letters, 0, 20, Selection::Robust).is_err());
/// let profile = Profile::new(Unit::Char, WordRule::Letters, 25, 20, Selection::Robust)?;
/// assert_eq!((profile.k(), profile.w(), profile.guarantee()), (25, 20, Some(44)));
/// # Ok::<(), fpdb::ProfileError>(())
/// ```
///
/// ```compile_fail,E0451
/// # use fpdb_kernel::profile as fpdb;
/// let profile = fpdb::Profile { k: 0, ..fpdb::Profile::default() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(into = "ProfileJson", try_from = "ProfileJson")]
pub struct Profile {
    pub(crate) unit: Unit,
    pub(crate) word_rule: WordRule,
    pub(crate) k: u32,
    pub(crate) w: u32,
    pub(crate) selection: Selection,
    pub(crate) hash_version: u8,
    views: Views,
}

/// A profile in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct ProfileJson {
    unit: String,
    k: u32,
    w: u32,
    selection: String,
    /// The word rule; only for unit `word`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    /// t, which follows from the other settings. Absent if there is no guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guarantee: Option<u64>,
    /// For source code in two views, the settings of the text as written. The other settings are then those
    /// of the structure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextViewJson>,
}

/// The settings of the text as written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct TextViewJson {
    k: u32,
    w: u32,
    /// t, which follows from the other settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guarantee: Option<u64>,
}

impl From<Profile> for ProfileJson {
    fn from(profile: Profile) -> Self {
        let text = profile.text_view().map(|text| TextViewJson { k: text.k, w: text.w, guarantee: text.guarantee() });
        Self {
            text,
            unit: profile.unit.to_string(),
            k: profile.k,
            w: profile.w,
            selection: profile.selection.to_string(),
            words: (profile.unit == Unit::Word).then(|| profile.word_rule.to_string()),
            guarantee: profile.guarantee(),
        }
    }
}

impl TryFrom<ProfileJson> for Profile {
    type Error = ProfileError;

    fn try_from(json: ProfileJson) -> Result<Self, ProfileError> {
        let word_rule = json.words.as_deref().map_or(Ok(WordRule::Letters), str::parse)?;
        let profile = Self::new(json.unit.parse()?, word_rule, json.k, json.w, json.selection.parse()?)?;
        json.text.map_or(Ok(profile), |text| profile.with_text_view(text.k, text.w))
    }
}

/// Marks the hashes of one view in their lowest bit. Selection compares marked hashes, because the keys in
/// the store have the order of the marked hashes. The other 63 bits are those of the k-gram hash.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    clear: u64,
    set: u64,
}

impl Marks {
    /// Marks a hash.
    #[must_use]
    pub fn mark(self, hash: u64) -> u64 {
        hash & !self.clear | self.set
    }

    /// Marks many hashes.
    pub fn mark_all(self, hashes: &mut [u64]) {
        if self.clear | self.set != 0 {
            hashes.iter_mut().for_each(|hash| *hash = self.mark(*hash));
        }
    }
}

impl Default for Profile {
    /// [`Profile::PROSE`].
    fn default() -> Self {
        Self::PROSE
    }
}

impl Profile {
    /// Checks the settings and makes a profile of them.
    ///
    /// # Errors
    /// [`ProfileError::InvalidParameter`] if k, w or p is 0, or if the selection is `all` and w is not 1.
    pub fn new(unit: Unit, word_rule: WordRule, k: u32, w: u32, selection: Selection) -> Result<Self, ProfileError> {
        let invalid = |name, value: u64, expected| {
            Err(ProfileError::InvalidParameter { name, value: value.to_string(), expected })
        };
        if k == 0 {
            return invalid("k", 0, "a number of symbols, 1 or more");
        }
        if w == 0 {
            return invalid("w", 0, "a number of hashes, 1 or more");
        }
        match selection {
            Selection::Mod(0) | Selection::SafeMod(0) => return invalid("P", 0, "a modulus, 1 or more"),
            Selection::All if w != 1 => {
                return invalid("w", w.into(), "1 with the selection `all`, which keeps every k-gram");
            }
            _ => {}
        }
        let word_rule = if unit == Unit::Word { word_rule } else { WordRule::Letters };
        Ok(Self { unit, word_rule, k, w, selection, hash_version: unit.hash_version(), views: Views::Unmarked })
    }

    /// The same profile of source code with a second view: the text as written, in k-grams of `k` words and
    /// marks, with the window `w`.
    ///
    /// # Errors
    /// [`ProfileError::InvalidParameter`] if k or w is 0, if the unit is not token, or if the selection is
    /// `mod:P` or `safe-mod:P`. Those two depend on the lowest bit of a hash, which holds the mark of its
    /// view.
    pub fn with_text_view(self, k: u32, w: u32) -> Result<Self, ProfileError> {
        let text = Self::new(self.unit, self.word_rule, k, w, self.selection)?;
        let invalid = |name, value, expected| Err(ProfileError::InvalidParameter { name, value, expected });
        if self.unit != Unit::Token {
            return invalid("the unit of two views", self.unit.to_string(), "token");
        }
        if matches!(self.selection, Selection::Mod(_) | Selection::SafeMod(_)) {
            return invalid("the selection of two views", self.selection.to_string(), "robust, plain or all");
        }
        Ok(Self { hash_version: VIEWS_HASH_VERSION, views: Views::Both { k: text.k, w: text.w }, ..self })
    }

    /// True if the profile has two views.
    #[must_use]
    pub fn has_two_views(&self) -> bool {
        matches!(self.views, Views::Both { .. })
    }

    /// The profile of the text as written. `None` unless the profile has two views.
    #[must_use]
    pub fn text_view(&self) -> Option<Self> {
        match self.views {
            Views::Both { k, w } => Some(Self { k, w, views: Views::One(View::Text), ..*self }),
            _ => None,
        }
    }

    /// The profile of the structure. Without a second view, the profile itself.
    #[must_use]
    pub fn structure_view(&self) -> Self {
        match self.views {
            Views::Both { .. } => Self { views: Views::One(View::Structure), ..*self },
            _ => *self,
        }
    }

    /// The profile of each view: the structure, then the text as written if there are two.
    pub fn views(&self) -> impl Iterator<Item = Self> {
        std::iter::once(self.structure_view()).chain(self.text_view())
    }

    /// The settings of the structure, as a profile of one view without marks.
    #[must_use]
    pub fn without_text_view(&self) -> Self {
        match self.views {
            Views::Unmarked => *self,
            _ => Self { hash_version: self.unit.hash_version(), views: Views::Unmarked, ..*self },
        }
    }

    /// The profile for boilerplate, with w = 1, so that every k-gram is a fingerprint. In another document, a
    /// window can extend beyond the end of a copy of boilerplate. Such a window may select any k-gram of the
    /// copy. `mod:P` ignores the window, so its selection does not change.
    #[doc(hidden)]
    #[must_use]
    pub fn of_boilerplate(&self) -> Self {
        let views = match self.views {
            Views::Both { k, .. } => Views::Both { k, w: 1 },
            views => views,
        };
        Self { w: 1, views, ..*self }
    }

    /// The view of the fingerprint with this hash.
    #[must_use]
    pub fn view_of(&self, hash: u64) -> View {
        match self.views {
            Views::Both { .. } if hash & 1 == 1 => View::Text,
            Views::One(view) => view,
            _ => View::Structure,
        }
    }

    /// True if this is the profile of the text as written, one of two views.
    #[doc(hidden)]
    #[must_use]
    pub fn is_text_view(&self) -> bool {
        self.views == Views::One(View::Text)
    }

    /// The marks of the hashes of this view.
    #[doc(hidden)]
    #[must_use]
    pub fn marks(&self) -> Marks {
        match self.views {
            Views::Unmarked => Marks { clear: 0, set: 0 },
            Views::Both { .. } | Views::One(View::Structure) => Marks { clear: 1, set: 0 },
            Views::One(View::Text) => Marks { clear: 0, set: 1 },
        }
    }

    /// Prose, and the default: characters, k 25, w 20. This profile finds a copied sentence (t = 44
    /// characters).
    pub const PROSE: Self = Self::robust(Unit::Char, 25, 20);

    /// Large archives of text: characters, k 50, w 100. This profile makes a fifth of the fingerprints of
    /// [`Self::PROSE`]. These are the settings of the Web experiment of Schleimer et al. 2003, section 5.1.
    pub const TEXT: Self = Self::robust(Unit::Char, 50, 100);

    /// Words, k 3, w 1: every trigram of words is a fingerprint (Lyon, Malcolm and Dickerson 2001).
    pub const WORDS: Self = Self::robust(Unit::Word, 3, 1);

    /// Source code, in two views. The structure has tokens, k 7 and w 2. It finds a copied statement (t = 8
    /// tokens), even if names were changed. The text as written has words and marks, k 3 and w 8.
    /// docs/code.md gives the figures behind these settings.
    pub const CODE: Self =
        Self { views: Views::Both { k: 3, w: 8 }, hash_version: VIEWS_HASH_VERSION, ..Self::robust(Unit::Token, 7, 2) };

    /// Bytes as they are, k 50, w 100.
    pub const BYTES: Self = Self::robust(Unit::Byte, 50, 100);

    const fn robust(unit: Unit, k: u32, w: u32) -> Self {
        Self {
            unit,
            word_rule: WordRule::Letters,
            k,
            w,
            selection: Selection::Robust,
            hash_version: unit.hash_version(),
            views: Views::Unmarked,
        }
    }

    /// The profile named `prose`, `text`, `words`, `code` or `bytes`. `None` for any other name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "prose" => Some(Self::PROSE),
            "text" => Some(Self::TEXT),
            "words" => Some(Self::WORDS),
            "code" => Some(Self::CODE),
            "bytes" => Some(Self::BYTES),
            _ => None,
        }
    }

    /// The names that [`Profile::named`] accepts.
    pub const NAMES: [&'static str; 5] = ["prose", "text", "words", "code", "bytes"];

    /// The kind of a symbol.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The word rule. Only [`Unit::Word`] uses it; other units have [`WordRule::Letters`].
    #[must_use]
    pub fn word_rule(&self) -> WordRule {
        self.word_rule
    }

    /// The noise threshold k: the number of symbols in a k-gram.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The window w: a number of consecutive k-gram hashes.
    #[must_use]
    pub fn w(&self) -> u32 {
        self.w
    }

    /// The rule that selects hashes as fingerprints.
    #[must_use]
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// The hash version stored in this profile. A profile made by this program has
    /// [`supported_hash_version`](Self::supported_hash_version).
    #[must_use]
    pub fn hash_version(&self) -> u8 {
        self.hash_version
    }

    /// The version of the hashes that this program makes for this profile. A database with another version
    /// cannot be used, because the same text would have other fingerprints.
    #[must_use]
    pub const fn supported_hash_version(&self) -> u8 {
        match self.views {
            Views::Unmarked => self.unit.hash_version(),
            _ => VIEWS_HASH_VERSION,
        }
    }

    /// True if a profile of this unit and hash version has two views.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_two_views(unit: Unit, hash_version: u8) -> bool {
        unit == Unit::Token && hash_version == VIEWS_HASH_VERSION
    }

    /// The guarantee t, in symbols: two texts that share a run of t symbols share a fingerprint. `None` for
    /// [`Selection::Mod`], which has no guarantee.
    #[must_use]
    pub fn guarantee(&self) -> Option<u64> {
        match self.selection {
            Selection::Mod(_) => None,
            _ => Some(u64::from(self.w) + u64::from(self.k) - 1),
        }
    }

    /// The same settings with another hash version, for a profile that is read from disk.
    #[doc(hidden)]
    #[must_use]
    pub fn with_hash_version(self, hash_version: u8) -> Self {
        Self { hash_version, ..self }
    }

    /// The same profile with another window, at least w, for a query. The window applies to both views.
    ///
    /// # Errors
    /// [`ProfileError::WindowTooSmall`] if `window` is below w. Only a window of w or more selects a subset
    /// of the stored fingerprints.
    pub fn with_window(&self, window: u32) -> Result<Self, ProfileError> {
        if window < self.w {
            return Err(ProfileError::WindowTooSmall { asked: window, stored: self.w });
        }
        // A database that stores all k-grams can answer a query with any window.
        let selection = match self.selection {
            Selection::All if window > 1 => Selection::Robust,
            other => other,
        };
        let views = match self.views {
            // The text as written keeps its own window if that is larger than `window`.
            Views::Both { k, w } if window > self.w => Views::Both { k, w: w.max(window) },
            views => views,
        };
        Ok(Self { w: window, selection, views, ..*self })
    }
}

impl Unit {
    /// The version of the hashes that this program makes for this unit in one view. For two views, see
    /// [`Profile::supported_hash_version`].
    #[must_use]
    pub const fn hash_version(self) -> u8 {
        match self {
            Self::Char | Self::Word | Self::Byte => HASH_VERSION,
            Self::Token => TOKEN_HASH_VERSION,
        }
    }

    /// The name used in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::Word => "word",
            Self::Byte => "byte",
            Self::Token => "token",
        }
    }
}

impl WordRule {
    /// The name used in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Letters => "letters",
            Self::Unicode => "unicode",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for WordRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Robust => f.write_str("robust"),
            Self::Plain => f.write_str("plain"),
            Self::Mod(p) => write!(f, "mod:{p}"),
            Self::SafeMod(p) => write!(f, "safe-mod:{p}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {}", self.unit)?;
        if self.word_rule != WordRule::Letters {
            write!(f, " ({})", self.word_rule)?;
        }
        write!(f, ", k {}, w {}, selection {}", self.k, self.w, self.selection)?;
        if let Some(text) = self.text_view() {
            write!(f, "; text as written: k {}, w {}", text.k, text.w)?;
        }
        if self.hash_version != self.supported_hash_version() {
            write!(f, ", hash version {}", self.hash_version)?;
        }
        Ok(())
    }
}

impl FromStr for Unit {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            "char" => Ok(Self::Char),
            "word" => Ok(Self::Word),
            "byte" => Ok(Self::Byte),
            "token" => Ok(Self::Token),
            _ => Err(ProfileError::InvalidParameter {
                name: "unit",
                value: text.into(),
                expected: "char, word, token or byte",
            }),
        }
    }
}

impl FromStr for WordRule {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            "letters" => Ok(Self::Letters),
            "unicode" => Ok(Self::Unicode),
            _ => Err(ProfileError::InvalidParameter {
                name: "word rule",
                value: text.into(),
                expected: "letters or unicode",
            }),
        }
    }
}

impl FromStr for Selection {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let modulus = |p: &str| p.parse().ok().filter(|&p: &u64| p > 0);
        let parsed = match text.split_once(':') {
            None => match text {
                "robust" => Some(Self::Robust),
                "plain" => Some(Self::Plain),
                "all" => Some(Self::All),
                _ => None,
            },
            Some(("mod", p)) => modulus(p).map(Self::Mod),
            Some(("safe-mod", p)) => modulus(p).map(Self::SafeMod),
            Some(_) => None,
        };
        parsed.ok_or_else(|| ProfileError::InvalidParameter {
            name: "selection",
            value: text.into(),
            expected: "robust, plain, all, mod:P or safe-mod:P with P of 1 or more",
        })
    }
}
