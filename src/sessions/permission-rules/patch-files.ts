/** Reads which files a patch changes, for rules. */

export interface PatchFiles {
  /** as the patch names the files, without the prefixes of `git diff`, and new files also as `git apply` creates them */
  paths: ReadonlySet<string>
  /** other readings of the names by `patch` and `git apply`, which remove folders from the start of a name */
  possible: ReadonlySet<string>
  /** Whether a program may read the patch as a change of other files. */
  unsure: boolean
  /** Whether the text names or changes a file, so that it's a patch rather than other text. */
  isPatch: boolean
}

/** A line that names a file, of `*** Begin Patch` (group 1) or of a diff, and (group 3) what follows a tab. */
const NAMED =
  /^(?:(\*\*\* (?:(?:Add|Update|Delete) File|Move to): )|(?:\+\+\+|---) |(?:rename|copy) (?:from|to|old|new) |Index: ?)(\t*[^\t]+)(.*)/
const GIT_HEADER = /^diff --git (.*)$/
/** Where a program may end a name without a tab, or with a tab within it: before a date or at the first space. */
const SPACES = /\s+/g
/** Text that usually follows the tab after a name. */
const STAMP = /^(?:\t[\d\s:.,+-]*|\t[^/]*\D)?$/
/** Maximum number of ends of a name that are tried. */
const MAX_ENDS = 10
/** A path that leaves a folder whose name may be cut off. */
const LEAVES = /\s.*\/\.\.(?:\/|$)/s
/** The prefixes that `git diff` adds to names. */
const PREFIX = /^[abciwo]\//
/** A name that changes if its first folder is removed: neither a prefix nor the start of an absolute path. */
const UNPREFIXED = /^(?![abciwo]\/|[A-Za-z]:)[^/]+\/+/
/** A line that makes a program create a file. */
const CREATES = /@@+ -0+(?:,|\s)|^[^+\-@]*new file mode/
/** Lines that may name a file of a patch, in any spelling that an agent may understand, or of a context diff. */
const ANY_HEADER =
  /^(?:[ \t]*\*\*\*[ \t]*(?:add|create|new|update|modify|edit|delete|remove|move|rename|copy)\b|\*\*\*[ \t]+\S)/i
/** Lines of `*** Begin Patch` in the usual spelling, whose path is read, and lines without a path. */
const READ_HEADER =
  /^\*\*\* (?:(?:(?:Add|Update|Delete) File|Move to): \S|(?:Begin Patch|End Patch|End of File)[ \t]*$)/
/** Text that `patch` removes from the start of each line: an indentation, and the dashes of a quoted mail. */
const INDENTATION = String.raw`^[\sX\uFEFF]*(?:-\s[\sX]*)*`
const INDENTED_NAME = new RegExp(
  String.raw`${INDENTATION}(?:(?:---|\+\+\+|\*\*\*)\s+\S|Index:|Prereq:|diff --git |(?:rename|copy) (?:from|to|old|new) )`,
)
/** A line at which a program begins to change the files that were named before. */
const START = new RegExp(`${INDENTATION}(?:@@+ -|diff --git )`)
/** A change without a name, which a program applies to any file, in a context diff, `diff`'s own format or a script of `ed`. */
const NAMELESS = new RegExp(String.raw`${INDENTATION}(?:\*{8}|\d[\d,]*[acdi][\d,]*\s*$|[\d,]*s/)`)
const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/
/** A line that creates or changes a symbolic link or a submodule. */
const LINK = /^(?:new (?:file )?mode|index \S+) 1[26]0000\b/
/** Characters that only some programs treat as the end of a line. */
const OTHER_LINE_END = /[^\P{Cc}\t\n]|[\u2028\u2029]/u

/** Returns the files that a patch changes: `*** Update File: x`, `+++ b/x`. If they can't be determined, the result is `unsure`. */
export function filesOfPatch(patch: string): PatchFiles {
  const paths = new Set<string>()
  const possible = new Set<string>()
  let unsure = false
  let isPatch = false
  /** whether there is a name that only some programs read, and a place where they would use it */
  let [hasHidden, hasStart] = [false, false]
  /** lines of the old and new file that belong to the current hunk, which programs don't take for anything else */
  let [oldRemaining, newRemaining] = [0, 0]

  let creates = false
  /** where `git apply` creates the files, since it always removes a folder */
  const created = new Set<string>()

  const addPossible = (name: string) => {
    for (const read of [name, name.replace(/^[^/]*\/+/, ''), name.replace(/^.*\//s, '')])
      if (read !== '' && read !== '/dev/null') possible.add(read)
  }
  const addCut = (name: string) => {
    const ends = [...name.matchAll(SPACES)]
    if (ends.length > MAX_ENDS || LEAVES.test(name)) unsure = true
    for (const { index } of ends.slice(0, MAX_ENDS)) addPossible(name.slice(0, index))
  }
  const addName = (name: string, rest = '') => {
    if (name === '/dev/null') creates = true
    else paths.add(name.replace(PREFIX, ''))
    const start = name.trimStart()
    if (UNPREFIXED.test(start)) created.add(start.replace(UNPREFIXED, ''))
    addPossible(start)
    addCut(STAMP.test(rest) ? start : start + rest)
  }
  const readName = (line: string): boolean => {
    const named = NAMED.exec(line)
    if (named?.[1] !== undefined) {
      paths.add(named[2]!)
      // `patch` reads such a line as the start of a context diff
      addCut(`${line.slice(4)} `)
      // other programs may read the whole line as the name
      if (named[3] !== '') unsure = true
    } else if (named) {
      addName(named[2]!, named[3])
      // a tab belongs to these names
      if (/^[rc].*\t/.test(line)) unsure = true
    }
    const git = GIT_HEADER.exec(line)?.[1]?.trimEnd().split(' ')
    if (git && git.length > 2) unsure = true
    if (git) for (const name of git.slice(0, 2)) addName(name)
    return named !== null || git !== undefined
  }

  for (const line of patch.split(/\r?\n/)) {
    if (OTHER_LINE_END.test(line)) {
      const parts = line.split(OTHER_LINE_END)
      if (parts.some(part => INDENTED_NAME.test(part) || ANY_HEADER.test(part))) unsure = true
    }
    const isNamed = readName(line)
    isPatch ||= isNamed
    if (ANY_HEADER.test(line) && !READ_HEADER.test(line)) unsure = true
    if (oldRemaining > 0 || newRemaining > 0) {
      const first = line[0] ?? ' '
      if (first === '\\') continue
      if (first === ' ' || first === '-') oldRemaining -= 1
      if (first === ' ' || first === '+') newRemaining -= 1
      if (' -+'.includes(first) && oldRemaining >= 0 && newRemaining >= 0) continue
      // the hunk is shorter than its header says
      oldRemaining = 0
      newRemaining = 0
    }
    creates ||= CREATES.test(line)
    hasStart ||= START.test(line)
    hasHidden ||= !isNamed && INDENTED_NAME.test(line)
    if (LINK.test(line) || NAMELESS.test(line)) unsure = true
    const hunk = HUNK.exec(line)
    if (hunk) {
      oldRemaining = Number(hunk[1] ?? 1)
      newRemaining = Number(hunk[2] ?? 1)
    }
  }
  if (creates) for (const path of created) paths.add(path)
  return { paths, possible, unsure: unsure || (hasHidden && hasStart), isPatch }
}
