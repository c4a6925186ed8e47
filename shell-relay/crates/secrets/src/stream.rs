//! Removes secrets from a stream of bytes, piece by piece. Pure.
//!
//! A hit of a literal is examined when [`AHEAD_BYTES`] behind it have arrived. The bytes up to [`BACK_BYTES`] before a hit that was
//! not examined are held back. So every decision is made on the same bytes, wherever the stream was cut.

use super::{
    Scrubber,
    block::{Block, Ending},
    detect::{self, AHEAD_BYTES, BACK_BYTES, CONTEXT_BYTES, Find, Found, GoesOn, Rank},
    document::{self, FileKind},
    exact, pii,
    placeholder::START,
    rules::Rules,
};

pub use super::block::MOST_BLOCK_BYTES;

/// Fewer new bytes are examined only at the end: each examination has a fixed price.
const BATCH_BYTES: usize = 4 * 1024 - AHEAD_BYTES - BACK_BYTES;
/// The most that a stream holds back, in bytes, unless a private key has begun (then [`MOST_BLOCK_BYTES`] more).
pub const HELD_BACK_BYTES: usize = AHEAD_BYTES + BACK_BYTES + BATCH_BYTES;
/// Bytes that are taken in at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Longest run of finds that overlap, in bytes.
const MOST_CLUSTER_BYTES: usize = 64 * 1024;

/// The state of one stream of bytes. The [`Scrubber`] remembers the values.
#[derive(Debug, Default)]
pub struct Stream {
    /// Bytes that are not out yet, and the context before them.
    buffer: Vec<u8>,
    /// The number of bytes of the buffer that are out.
    emitted: usize,
    /// Hits before this place were examined.
    scanned: usize,
    finds: Vec<Find>,
    blocks: Vec<Block>,
    /// Bytes of a find that was too long for the window are being dropped.
    dropping: Option<GoesOn>,
    file: FileKind,
    has_begun: bool,
    /// The next byte does not begin a line.
    in_line: bool,
    /// Whether texts that look like placeholders are placeholders.
    has_placeholders: bool,
}

/// Overlapping finds, joined to one.
struct Cluster {
    rank: Rank,
    order: usize,
    kind: &'static str,
    goes_on: Option<GoesOn>,
}

impl Stream {
    /// A stream of the content of the file of that name, which may be empty.
    #[must_use]
    pub fn of_file(name: &str) -> Self {
        Self { file: FileKind::of(name), ..Self::default() }
    }

    /// A stream in which placeholders stand that came from us.
    #[must_use]
    pub fn with_placeholders() -> Self {
        Self { has_placeholders: true, ..Self::default() }
    }

    /// Takes in `bytes` and adds the settled part to `clean`.
    pub fn push(&mut self, scrubber: &mut Scrubber, bytes: &[u8], clean: &mut Vec<u8>) {
        if self.file == FileKind::KeyStore {
            if !bytes.is_empty() && !self.has_begun {
                self.has_begun = true;
                scrubber.replace("pkcs12-key", b"", false, clean);
            }
            return;
        }
        for piece in bytes.chunks(PIECE_BYTES) {
            self.buffer.extend_from_slice(piece);
            self.advance(scrubber, false, clean);
        }
    }

    /// The stream has ended: adds the rest.
    pub fn finish(mut self, scrubber: &mut Scrubber, clean: &mut Vec<u8>) {
        self.advance(scrubber, true, clean);
    }

    fn advance(&mut self, scrubber: &mut Scrubber, is_end: bool, clean: &mut Vec<u8>) {
        let safe = if is_end { self.buffer.len() } else { self.buffer.len().saturating_sub(AHEAD_BYTES) };
        if !is_end && safe < self.scanned + BATCH_BYTES {
            return;
        }
        self.scan(scrubber, safe);
        self.scanned = safe;
        let mut settled = if is_end { safe } else { safe.saturating_sub(BACK_BYTES) };
        self.settle_blocks(is_end, &mut settled);
        self.emit(scrubber, settled, clean);
        self.forget();
    }

    /// Examines all hits from the last place to before `safe`.
    fn scan(&mut self, scrubber: &Scrubber, safe: usize) {
        let from = self.scanned;
        let mut found = Found::default();
        // A hit begins before `safe` and may end behind it.
        let hits = |automaton: &aho_corasick::AhoCorasick, each: &mut dyn FnMut(usize, usize, usize)| {
            let most = automaton.max_pattern_len();
            let area = &self.buffer[from..self.buffer.len().min(safe + most)];
            for hit in automaton.find_overlapping_iter(area).filter(|hit| from + hit.start() < safe) {
                each(from + hit.start(), from + hit.end(), hit.pattern().as_usize());
            }
        };
        let rules = Rules::get();
        let is_ascii = self.buffer[from..].is_ascii();
        for search in rules.automata.iter().filter(|search| !(is_ascii && search.is_beyond_ascii)) {
            hits(&search.automaton, &mut |start, _, pattern| {
                if let Some(literal) = rules.literals.get(search.first + pattern) {
                    detect::look(rules, literal, &self.buffer, start, &mut found);
                }
            });
        }
        let sure = |start, end, kind, rank| Find { start, rank, order: 0, end, kind, goes_on: None };
        for automaton in
            [&scrubber.settings.exact, &scrubber.filled].into_iter().filter_map(|exact| exact.automaton.as_ref())
        {
            hits(automaton, &mut |start, end, _| {
                // Only the beginning of a longer value was looked for.
                let goes_on = (end - start == exact::MOST_BYTES).then_some(GoesOn::Token);
                found.finds.push(Find { goes_on, ..sure(start, end, "value", Rank::Exact) });
            });
        }
        let personal = scrubber.settings.personal;
        if personal.is_any() {
            for at in (from..safe).filter(|at| pii::may_begin(&self.buffer, *at)) {
                let found_here = pii::at(personal, &self.buffer[..self.buffer.len().min(at + AHEAD_BYTES)], at);
                found.finds.extend(found_here.map(|(kind, length)| sure(at, at + length, kind, Rank::Personal)));
            }
        }
        if self.file == FileKind::Pgpass {
            self.scan_lines(from, safe, &mut found.finds);
        }
        found.finds.iter_mut().for_each(|find| self.settle_placeholder(scrubber, find));
        self.finds.append(&mut found.finds);
        found.blocks.sort_by_key(|block| block.start);
        self.blocks.append(&mut found.blocks);
    }

    /// Decides whether a text in the form of a placeholder is one, or its start is to be escaped.
    fn settle_placeholder(&self, scrubber: &Scrubber, find: &mut Find) {
        let is_placeholder = match find.rank {
            Rank::LookAlike => self.has_placeholders,
            // A scrubber with a mark accepts no marked placeholder from elsewhere.
            Rank::Placeholder => self.has_placeholders || scrubber.settings.mark.is_none(),
            _ => return,
        };
        find.rank = if is_placeholder { Rank::Placeholder } else { Rank::LookAlike };
        if !is_placeholder {
            find.end = find.start + START.len();
        }
    }

    /// Passwords of the lines that begin in a range.
    fn scan_lines(&mut self, from: usize, safe: usize, finds: &mut Vec<Find>) {
        for at in from..safe {
            if !self.in_line {
                let rest = &self.buffer[at..self.buffer.len().min(at + AHEAD_BYTES)];
                let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
                if let Some(start) = document::fifth_field(line) {
                    let (start, end) = (at + start, at + line.len());
                    finds.push(Find {
                        start,
                        rank: Rank::Place,
                        order: 0,
                        end,
                        kind: "postgresql-password",
                        goes_on: None,
                    });
                }
            }
            self.in_line = self.buffer[at] != b'\n';
        }
    }

    /// Determines the ends of blocks; the stream is settled only up to the first block without a known end.
    fn settle_blocks(&mut self, is_end: bool, settled: &mut usize) {
        let mut open = Vec::new();
        for mut block in std::mem::take(&mut self.blocks) {
            let (end, goes_on) = match block.look(&self.buffer, is_end) {
                Ending::Unknown => {
                    *settled = (*settled).min(block.start);
                    open.push(block);
                    continue;
                }
                Ending::None => continue,
                Ending::At(end) => (end, None),
                Ending::TooLong(end) => (end, Some(GoesOn::Block)),
            };
            let (start, kind, order) = (block.start, block.kind, block.order);
            self.finds.push(Find { start, rank: Rank::Block, order, end, kind, goes_on });
        }
        self.blocks = open;
    }

    /// Writes the text that begins before `settled`, with placeholders for the finds.
    fn emit(&mut self, scrubber: &mut Scrubber, settled: usize, clean: &mut Vec<u8>) {
        self.finds.sort_unstable();
        let mut finds = std::mem::take(&mut self.finds).into_iter().peekable();
        let mut kept = Vec::new();
        while self.drop_rest(settled) {
            let Some(first) = finds.next_if(|find| find.start < settled) else { break };
            let start = first.start.max(self.emitted);
            if first.end <= start {
                continue;
            }
            let mut members = vec![first];
            let mut end = members[0].end;
            let mut own_end = if members[0].rank == Rank::Placeholder { end } else { start };
            while let Some(next) = finds.next_if(|next| next.start < end && end - start < MOST_CLUSTER_BYTES) {
                // The text of a placeholder itself is not secret.
                if next.end <= own_end {
                    continue;
                }
                if next.rank == Rank::Placeholder {
                    own_end = next.end;
                }
                end = end.max(next.end);
                members.push(next);
            }
            clean.extend_from_slice(&self.buffer[self.emitted..start]);
            self.emitted = start;
            if end > settled {
                kept = members;
                break;
            }
            let cluster = Cluster::of(&members);
            let value = &self.buffer[start..end];
            match cluster.rank {
                Rank::LookAlike => scrubber.numbers.escape(clean),
                Rank::Placeholder => clean.extend_from_slice(value),
                _ => scrubber.replace(cluster.kind, value, cluster.goes_on.is_none(), clean),
            }
            self.emitted = end;
            self.dropping = cluster.goes_on;
        }
        kept.extend(finds);
        self.finds = kept;
        let until =
            self.finds.first().map_or(settled, |find| find.start.clamp(self.emitted, settled.max(self.emitted)));
        if self.dropping.is_none() && until > self.emitted {
            clean.extend_from_slice(&self.buffer[self.emitted..until]);
            self.emitted = until;
        }
    }

    /// Skips the rest of a find that was cut; false if more of it may come.
    fn drop_rest(&mut self, settled: usize) -> bool {
        let Some(goes_on) = self.dropping else { return true };
        let rest = self.buffer.get(self.emitted..settled).unwrap_or_default();
        let length = rest.iter().take_while(|byte| goes_on.takes(**byte)).count();
        let is_over = length < rest.len();
        self.emitted += length;
        self.dropping = self.dropping.filter(|_| !is_over);
        is_over
    }

    /// Drops data that will not be examined again.
    fn forget(&mut self) {
        let spare = self.emitted.min(self.scanned).saturating_sub(CONTEXT_BYTES);
        if spare >= PIECE_BYTES {
            self.buffer.drain(..spare);
            self.emitted -= spare;
            self.scanned -= spare;
            self.blocks.iter_mut().for_each(|block| block.shift(spare));
            for find in &mut self.finds {
                find.start = find.start.saturating_sub(spare);
                find.end = find.end.saturating_sub(spare);
            }
        }
    }
}

impl Cluster {
    fn of(members: &[Find]) -> Self {
        let end = members.iter().map(|find| find.end).max().unwrap_or_default();
        let mut cluster = Self { rank: Rank::Placeholder, order: usize::MAX, kind: "", goes_on: None };
        for find in members {
            if (find.rank, find.order) < (cluster.rank, cluster.order) {
                (cluster.rank, cluster.order, cluster.kind) = (find.rank, find.order, find.kind);
            }
            if find.end == end {
                cluster.goes_on = cluster.goes_on.or(find.goes_on);
            }
        }
        cluster
    }
}
