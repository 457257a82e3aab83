"""Makes pairs of documents, one of which re-uses the other in rewritten form, in several different ways; for alignment.py.

All texts are public, and the same seed gives the same pairs:

  DATA/federalist, DATA/codes, DATA/bible   papers, codes of civil procedure, four translations of the Bible
  MORE                                      a folder of HTML (Debian's package `anarchism`: prose of today, on one subject)
  WORDNET                                   synonyms and parts of speech (Debian's package `wordnet-base`)

Kinds used to find the settings:

  none       nothing in common, another collection
  related    nothing in common, the same collection: another paper, another page on the same subject
  verbatim   passages of the source as they are, re-wrapped
  light      one word in ten replaced, dropped, added or moved
  heavy      half of the words replaced, dropped, added or moved by some places
  synonyms   two words in three replaced by a synonym where there is one, the order kept
  translated the same verses in another of three translations (ASV, Webster, RWebster)
  summary    one sentence in four to ten of the whole source, a quarter of the words dropped, some replaced

Kinds left out of that:

  windows    all words shuffled within windows of four to ten words, one word in five dropped, added or a synonym
  speech     words changed for others of the same part of speech in the passage's own order of parts of speech
  shuffled   the sentences in another order, one word in twenty edited
  merged     neighbouring sentences merged, clauses dropped and moved, one word in four a synonym
  literal    the same verses in Young's literal translation and another one (median resemblance 0.17 to 0.3)
  condensed  a summary: each sentence is made of halves of two or three neighbours, one word in three a synonym
  digest     a summary: one verse in eight, in another translation
  mixed      passages of one pair re-written in different ways: verbatim, heavy, merged
"""

import html
import re

TUNED = ["none", "related", "verbatim", "light", "heavy", "synonyms", "translated", "summary"]
LEFT_OUT = ["windows", "speech", "shuffled", "merged", "literal", "condensed", "digest", "mixed"]
KINDS = TUNED + LEFT_OUT
SUMMARIES = {"summary", "condensed", "digest"}
UNRELATED = {"none", "related"}
VERSES = {"translated": ["ASV", "Webster", "RWebster"], "literal": ["YLT"], "digest": ["ASV", "RWebster", "YLT"]}
SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
PAUSE = re.compile(r"(?<=[,;:])\s+")
AND = ["and", "while", "whereas", "so that", "and therefore", "although", "because"]


def lines_of(path):
    return [line for line in path.read_text(errors="replace").splitlines() if line.strip()]


def joined(path):
    return " ".join(path.read_text(errors="replace").split())


def page(path):
    text = path.read_text(errors="replace")
    text = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", " ", text)
    text = re.sub(r"(?i)</?(p|h\d|li|ul|ol|br|blockquote|div|td|tr)\b[^>]*>", "\n\n", text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


class Corpus:
    def __init__(self, data, more=None, wordnet=None):
        self.collections = {
            "papers": [joined(path) for path in sorted((data / "federalist").glob("fed*.txt"))],
            "codes": [joined(path) for path in sorted((data / "codes").glob("*.txt"))],
        }
        if more:
            pages = [page(path) for path in sorted(more.glob("*.html"))]
            self.collections["pages"] = [text for text in pages if len(text) > 12_000]
        self.bible = {folder.name: {path.name: lines_of(path) for path in sorted(folder.glob("*.txt"))}
                      for folder in sorted((data / "bible").iterdir())}
        common = set.intersection(*[set(version) for version in self.bible.values()])
        self.books = sorted(name for name in common if min(len(version[name]) for version in self.bible.values()) > 150)
        self.words = sorted(set(re.findall(r"[a-z]{3,9}", " ".join(self.collections["papers"]).lower())))
        self.synonyms, self.speech = synonyms(wordnet) if wordnet else ({}, {})

    def synonym(self, word, rng):
        """A synonym with the capital and the punctuation of the word; the word itself if it has no synonym."""
        found = re.fullmatch(r"(\W*)([A-Za-z]+)(\W*)", word)
        others = found and self.synonyms.get(found[2].lower())
        if not others:
            return word
        other = rng.choice(others)
        return found[1] + (other.capitalize() if found[2][0].isupper() else other) + found[3]


def synonyms(folder):
    """For each word, the words of one of its synonym sets, and its first part of speech."""
    others, speech = {}, {}
    for part in ["noun", "verb", "adj", "adv"]:
        for line in (folder / f"data.{part}").read_text(errors="replace").splitlines():
            fields = line.split(" ")
            if line.startswith(" ") or len(fields) < 5:
                continue
            words = [re.sub(r"\(.*", "", word).lower() for word in fields[4:4 + 2 * int(fields[3], 16):2]]
            words = [word for word in words if word.isalpha()]
            for word in words:
                speech.setdefault(word, part)
                others.setdefault(word, []).extend(other for other in words if other != word)
    return {word: sorted(set(found)) for word, found in others.items() if found and len(word) > 2}, speech


def cut(text, length, rng):
    """A stretch of about `length` characters, between spaces."""
    start = rng.randrange(max(1, len(text) - length))
    start = text.find(" ", start) + 1
    end = text.find(" ", min(len(text) - 1, start + length))
    return start, (end if end > start else len(text))


def wrap(text, rng):
    width, lines, line = rng.randrange(50, 100), [], ""
    for word in text.split(" "):
        if len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join(lines + [line])


def edit(text, share, reach, corpus, rng):
    """Replaces, drops, adds or moves this share of the words."""
    out = []
    for word in text.split():
        if rng.random() >= share:
            out.append(word)
            continue
        kind = rng.randrange(4)
        if kind == 0:
            out.append(rng.choice(corpus.words))
        elif kind == 2:
            out += [word, rng.choice(corpus.words)]
        elif kind == 3:
            out.insert(max(0, len(out) - rng.randrange(1, reach + 1)), word)
    return " ".join(out)


def other_words(text, share, corpus, rng):
    return " ".join(corpus.synonym(word, rng) if rng.random() < share else word for word in text.split())


def windows(text, corpus, rng):
    words, out = text.split(), []
    while words:
        length = rng.randrange(4, 11)
        window, words = words[:length], words[length:]
        rng.shuffle(window)
        out += window
    kept = []
    for word in out:
        kind = rng.randrange(15)
        if kind == 0:
            continue
        kept.append(corpus.synonym(word, rng) if kind == 1 else word)
        if kind == 2:
            kept.append(rng.choice(corpus.words))
    return " ".join(kept)


def speech(text, corpus, rng):
    """The words of each part of speech change places among some sentences."""
    out = []
    words = text.split()
    while words:
        length = rng.randrange(15, 60)
        window, words = words[:length], words[length:]
        parts = [corpus.speech.get(re.sub(r"\W", "", word).lower(), "other") for word in window]
        for part in sorted(set(parts) - {"other"}):
            places = [place for place, other in enumerate(parts) if other == part]
            moved = [window[place] for place in places]
            rng.shuffle(moved)
            for place, word in zip(places, moved):
                window[place] = word
        out += window
    return " ".join(out)


def merged(text, corpus, rng):
    sentences, out = SENTENCE.split(text), []
    while sentences:
        count = rng.choice([1, 2, 2, 3])
        some, sentences = sentences[:count], sentences[count:]
        clauses = []
        for sentence in some:
            parts = PAUSE.split(sentence)
            parts = [part for part in parts if len(parts) < 3 or rng.random() < 0.8]
            if rng.random() < 0.4:
                rng.shuffle(parts)
            clauses.append(" ".join(parts).rstrip(".;:!?"))
        out.append(f" {rng.choice(AND)} ".join(clauses) + ".")
    return other_words(" ".join(out), 0.25, corpus, rng)


def dropped(text, share, rng):
    return " ".join(word for word in text.split() if rng.random() >= share)


def summary(text, corpus, rng):
    every = rng.randrange(4, 11)
    kept = [sentence for sentence in SENTENCE.split(text) if rng.randrange(every) == 0]
    return " ".join(other_words(dropped(sentence, rng.uniform(0.1, 0.4), rng), 0.2, corpus, rng) for sentence in kept)


def condensed(text, corpus, rng):
    sentences, out, at = SENTENCE.split(text), [], 0
    while at < len(sentences):
        halves = []
        for sentence in sentences[at:at + rng.randrange(2, 4)]:
            words = sentence.split()
            half = len(words) // 2
            halves.append(" ".join(words[:half] if rng.random() < 0.5 else words[half:]).strip(" .;:,"))
        out.append(f" {rng.choice(AND)} ".join(half for half in halves if half) + ".")
        at += rng.randrange(8, 20)
    return other_words(" ".join(out), 0.35, corpus, rng)


def obfuscate(text, kind, corpus, rng):
    if kind == "mixed":
        kind = rng.choice(["verbatim", "heavy", "merged"])
    if kind == "light":
        return edit(text, 0.1, 3, corpus, rng)
    if kind == "heavy":
        return edit(text, 0.5, 8, corpus, rng)
    if kind == "synonyms":
        return other_words(text, 0.67, corpus, rng)
    if kind == "windows":
        return windows(text, corpus, rng)
    if kind == "speech":
        return speech(text, corpus, rng)
    if kind == "shuffled":
        sentences = SENTENCE.split(text)
        rng.shuffle(sentences)
        return edit(" ".join(sentences), 0.05, 3, corpus, rng)
    if kind == "merged":
        return merged(text, corpus, rng)
    if kind == "summary":
        return summary(text, corpus, rng)
    if kind == "condensed":
        return condensed(text, corpus, rng)
    return text


def verses(kind, corpus, rng):
    """A source, and passages of its verses in another translation, with their places in the source."""
    book = rng.choice(corpus.books)
    here = rng.choice(VERSES[kind])
    others = set(corpus.bible) - {here, "YLT"}
    there = rng.choice(sorted(others))
    if kind == "literal" and rng.random() < 0.5:
        here, there = there, here
    lines = [corpus.bible[version][book] for version in (here, there)]
    count = min(len(lines[0]), len(lines[1]))
    from_verse = rng.randrange(max(1, count - 400)) if kind != "digest" else 0
    to_verse = min(count, from_verse + rng.randrange(120, 400))
    offsets, source = [], ""
    for line in lines[1][from_verse:to_verse]:
        offsets.append(len(source))
        source += line + "\n"
    offsets.append(len(source))
    passages = []
    if kind == "digest":
        kept = [line for line in lines[0][from_verse:to_verse] if rng.randrange(8) == 0]
        return source, [("\n".join(kept), (0, len(source) - 1))]
    verse, length = rng.randrange(20), rng.randrange(4, 25)
    while from_verse + verse + length < to_verse and len(passages) < 3:
        text = "\n".join(lines[0][from_verse + verse:from_verse + verse + length])
        passages.append((text, (offsets[verse], offsets[verse + length] - 1)))
        verse, length = verse + length + rng.randrange(20, 60), rng.randrange(4, 25)
    return source, passages


def make(kind, corpus, rng):
    """A suspicious document, a source, and the cases: ((start, end) there, (start, end) here)."""
    names = sorted(corpus.collections)
    of_source = rng.choice(names)
    of_host = rng.choice(names)
    if kind == "none":
        of_host = rng.choice([name for name in names if name != of_source])
    if kind == "related" or of_host == of_source == "codes":
        # Two codes of law do share text.
        of_source = of_host = rng.choice([name for name in names if name != "codes"])
    source, host = rng.choice(corpus.collections[of_source]), rng.choice(corpus.collections[of_host])
    while source is host:
        host = rng.choice(corpus.collections[of_host])
    start, end = cut(host, rng.randrange(4000, 16000), rng)
    host = host[start:end]
    passages = []
    if kind in VERSES:
        source, passages = verses(kind, corpus, rng)
    else:
        start, end = cut(source, rng.randrange(6000, 30000), rng)
        source, at = source[start:end], 0
        if kind in SUMMARIES:
            passages = [(obfuscate(source, kind, corpus, rng), (0, len(source)))]
        while kind not in UNRELATED | SUMMARIES and len(passages) < rng.randrange(1, 4):
            length = rng.choice([300, 600, 1200, 2500, 5000])
            if at + length + 800 > len(source):
                break
            start = source.find(" ", at + rng.randrange(600)) + 1
            end = source.find(" ", start + length)
            if end < 0:
                break
            passages.append((obfuscate(source[start:end], kind, corpus, rng), (start, end)))
            at = end + 300
    rng.shuffle(passages)
    suspicious, cases, last = "", [], 0
    places = sorted(rng.randrange(len(host)) for _ in passages)
    for place, (text, there) in zip(places, passages):
        place = host.find(" ", place) + 1 or place
        suspicious += wrap(host[last:max(last, place)], rng) + "\n"
        text = wrap(text, rng)
        if text.strip():
            cases.append(((len(suspicious), len(suspicious) + len(text)), there))
        suspicious += text + "\n"
        last = max(last, place)
    return suspicious + wrap(host[last:], rng), source, cases
