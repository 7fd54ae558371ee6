import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { FileChange } from '../../../src/acp/model.ts'
import { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { FakeEditor } from '../../support/fake-editor.ts'
import { MemoryStore } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'

/** What happens to the file in a turn, in this order. Each change is in lines of its own. */
type Deed =
  /** `reported`: which texts its reports have; `none`: a command, which reports nothing */
  | { by: 'agent'; reported: 'fragment' | 'whole' | 'none'; isOther: boolean }
  | { by: 'user' }
  /** The user looks at what an earlier deed changed, and decides. */
  | { by: 'keep' | 'revert'; of: number }

/** When the tracker learns what: a look at the disk after each deed, and how many deeds later each report arrives. */
interface Timing {
  looks: Array<'none' | 'disk' | 'tree'>
  delays: number[]
  /** The user's save is seen on disk before the editor reports it. */
  isSeenFirst: boolean[]
  /** Each report arrives again. */
  isTwice: boolean
}

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    by: fc.constant('agent' as const),
    reported: fc.constantFrom('fragment' as const, 'whole' as const, 'none' as const),
    isOther: fc.boolean(),
  }),
  fc.record({ by: fc.constant('user' as const) }),
  fc.record({ by: fc.constantFrom('keep' as const, 'revert' as const), of: fc.nat(3) }),
)
const timing: fc.Arbitrary<Timing> = fc.record({
  looks: fc.array(fc.constantFrom('none' as const, 'disk' as const, 'tree' as const), {
    minLength: 6,
    maxLength: 6,
  }),
  delays: fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
  isSeenFirst: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  isTwice: fc.boolean(),
})

/** How lines end in the file, and in what agents report. */
type LineEnds = readonly [file: string, reported: string]

const LINES = Array.from({ length: 14 }, (_, i) => `line ${i}\n`)

/** Who changed which line, after everything has arrived. */
type End =
  | 'stays'
  | 'is deleted'
  | 'is deleted, and that is reported'
  | 'is saved after that'
  | 'is saved after the turn'

async function play(
  deeds: readonly Deed[],
  ends: End,
  isTracked: boolean,
  [lineEnd, reportedEnd]: LineEnds,
  { looks, delays, isSeenFirst, isTwice }: Timing,
) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-order-')))
  const path = join(root, 'a.txt')
  const editor = new FakeEditor()
  const shared = filesShared({ documents: editor, fileSystem: disk })
  const tracker = new ChangeTracker({ files: shared, store: new MemoryStore() })
  editor.tracker = tracker
  try {
    const withEnd = (text: string, end: string) => text.replaceAll('\n', end)
    const on = () => readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
    const write = (text: string) => writeFileSync(path, withEnd(text, lineEnd))
    const set = (at: number, line: string) => {
      const before = on()
      const now = before.split(/(?<=\n)/)
      const old = now[at]!
      now[at] = line
      write(now.join(''))
      return { before, after: now.join(''), old }
    }
    write(LINES.join(''))
    const roots = { cwd: root, additionalDirectories: [] }
    const changes = new SessionChanges(tracker, 's', roots)
    const others = new SessionChanges(tracker, 'other', roots)
    const both = deeds.some(one => one.by === 'agent' && one.isOther) ? [changes, others] : [changes]
    const tree = new WorkTree(changes)
    const report = (toolCallId: string, done: boolean, change: FileChange, by = changes) => {
      const { oldText, newText } = change
      const texts = {
        ...(oldText !== undefined && { oldText: withEnd(oldText, reportedEnd) }),
        ...(newText !== undefined && { newText: withEnd(newText, reportedEnd) }),
      }
      return by.tool({ toolCallId, begun: true, done }, [{ changes: [{ ...change, ...texts }] }], [])
    }
    if (isTracked) {
      changes.beginTurn(1, () => true)
      const { before, after } = set(13, 'first\n')
      await report('first', true, { operation: 'modify', path, oldText: before, newText: after })
      await changes.endTurn()
    }
    editor.open(path)
    const before = await tree.snapshot([root], Number.POSITIVE_INFINITY)
    for (const one of both) one.beginTurn(2, () => true)
    let saves = 0
    // as `ChangeDetector` does it
    const look = async () => {
      for (const one of both) await one.reported
      const known = saves
      const isDecided = changes.watchDecisions()
      const { changes: found } = await tree.changed(before, { isDecided })
      for (const one of both) await one.noticed(found, 2, of => isDecided(of) || saves > known)
    }
    let onDidBeginEdit = () => {}
    changes.onDidBeginEdit(() => onDidBeginEdit())
    /** reports on their way, in the order in which the agent sent them */
    const sent: Array<{ at: number; arrive: () => Promise<void> }> = []
    let last = 0
    const send = (at: number, arrive: () => Promise<void>) => {
      last = Math.max(last, at)
      for (let times = isTwice ? 2 : 1; times > 0; times--) sent.push({ at: last, arrive })
    }
    const arrive = async (now: number) => {
      while (sent[0] && sent[0].at <= now) await sent.shift()!.arrive()
    }
    /** The user types, which is looked at before it's saved. */
    const type = async (text: string) => {
      let looking: Promise<void> | undefined
      const begun = new Promise<void>(resolve => {
        onDidBeginEdit = () => {
          looking = look().then(resolve)
        }
      })
      const isKnown = changes.isKnown(path)
      editor.type(path, withEnd(text, lineEnd))
      await (isKnown ? looking : begun)
    }
    for (const [i, one] of deeds.entries()) {
      if (one.by === 'agent') {
        const old = on().split(/(?<=\n)/)[i * 2]!
        const next = on().split(/(?<=\n)/)
        next[i * 2] = `agent ${i}\n`
        const [oldText, newText] = one.reported === 'whole' ? [on(), next.join('')] : [old, `agent ${i}\n`]
        const change: FileChange = { operation: 'modify', path, oldText, newText }
        const by = one.isOther ? others : changes
        if (one.reported !== 'none') send(i + delays[i * 2]!, () => report(`${i}`, false, change, by))
        await arrive(i)
        write(next.join(''))
        if (one.reported !== 'none') send(i + delays[i * 2 + 1]!, () => report(`${i}`, true, change, by))
      } else if (one.by !== 'user') {
        // only what was seen can be decided about
        await look()
        const scope = new ChangeScope(tracker)
        const hunk = scope.hunks(path).find(({ start }) => start === one.of * 2)
        if (hunk) {
          const selection = { hunks: { path, ids: new Set([hunk.id]) }, paths: [path] }
          if (one.by === 'keep') scope.keep(selection)
          else await scope.undo(selection)
          await tree.accept(before, path)
        }
      } else {
        // the user sees what was written
        editor.reload()
        await tracker.files.run(path, async () => {})
        const typed = on().split(/(?<=\n)/)
        typed[i * 2] = `user ${i}\n`
        await type(typed.join(''))
        await editor.save(path, isSeenFirst[i] ? () => tracker.disk.refresh() : undefined)
        saves++
        await tree.accept(before, path)
      }
      await arrive(i)
      if (looks[i] === 'disk') await tracker.disk.refresh()
      if (looks[i] === 'tree') await look()
    }
    if (ends !== 'stays') {
      // a command's change that nothing has seen can't be known
      if (deeds.some(one => one.by === 'agent' && one.reported !== 'whole')) await look()
      const isReported = ends !== 'is deleted' && ends !== 'is saved after the turn'
      const unsaved = `${on()}unsaved\n`
      if (ends.startsWith('is saved')) {
        editor.reload()
        await tracker.files.run(path, async () => {})
        await type(unsaved)
      }
      const deletion = (done: boolean) => report('deletion', done, { operation: 'delete', path })
      if (isReported) send(deeds.length + delays[10]!, () => deletion(false))
      await arrive(deeds.length)
      rmSync(path)
      if (isReported) send(deeds.length + delays[11]!, () => deletion(true))
      await arrive(deeds.length)
      if (looks[deeds.length] === 'disk') await tracker.disk.refresh()
      if (looks[deeds.length] === 'tree') await look()
      if (ends === 'is saved after that') {
        await editor.save(path, isSeenFirst[deeds.length] ? () => tracker.disk.refresh() : undefined)
        saves++
        await tree.accept(before, path)
      }
    }
    await arrive(Number.POSITIVE_INFINITY)
    await look()
    for (const one of both) await one.endTurn()
    if (ends === 'is saved after the turn')
      await editor.save(path, isSeenFirst[deeds.length] ? () => tracker.disk.refresh() : undefined)
    await tracker.disk.refresh()
    const scope = new ChangeScope(tracker)
    // one change of all lines: of what one turn reported, only the last is known
    const authorOf = ({ uncertain, toolCallId }: { uncertain?: true; toolCallId?: string }) =>
      uncertain ? 'uncertain' : ends === 'stays' ? toolCallId : 'reported'
    return {
      list: scope.list().map(({ path: _, ...rest }) => rest),
      hunks: scope.hunks(path).map(({ before, after, authors, conflict }) => ({
        before,
        after,
        authors: [...new Set(authors.map(authorOf))].sort(),
        sessions: [...new Set(authors.flatMap(({ turns }) => turns.map(({ session }) => session)))].sort(),
        conflict,
      })),
      text: existsSync(path) && readFileSync(path, 'utf8'),
    }
  } finally {
    tracker.dispose()
    rmSync(root, { recursive: true, force: true })
  }
}

const PROMPT: Timing = {
  looks: Array(6).fill('tree'),
  delays: Array(12).fill(0),
  isSeenFirst: Array(6).fill(false),
  isTwice: false,
}

const FRAGMENT: Deed = { by: 'agent', reported: 'fragment', isOther: false }
/** Nothing is seen before the user decides. */
const late = (...delays: number[]): Timing => ({
  ...PROMPT,
  looks: Array(6).fill('none'),
  delays: [...delays, ...Array(12 - delays.length).fill(0)],
})

describe('what changed in a turn (property)', () => {
  it('is the same in whatever order the looks, saves and reports arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(deed, { minLength: 1, maxLength: 5 }),
        fc.constantFrom<End>(
          'stays',
          'is deleted',
          'is deleted, and that is reported',
          'is saved after that',
          'is saved after the turn',
        ),
        fc.boolean(),
        fc.constantFrom<LineEnds>(['\n', '\n'], ['\r\n', '\r\n'], ['\r\n', '\n']),
        timing,
        async (deeds, ends, isTracked, lineEnds, given) => {
          // a report after a decision and the deletion comes too late to name what the user saves after the turn
          fc.pre(
            ends !== 'is saved after the turn' || deeds.every(({ by }) => by !== 'keep' && by !== 'revert'),
          )
          assert.deepEqual(
            await play(deeds, ends, isTracked, lineEnds, given),
            await play(deeds, ends, isTracked, lineEnds, PROMPT),
          )
        },
      ),
      {
        numRuns: scaledRuns(60),
        examples: [
          // what was kept is done, and what wasn't is still to be named
          [[FRAGMENT, { by: 'keep', of: 0 }], 'is deleted', false, ['\n', '\n'], late(1, 3)],
          [[FRAGMENT, FRAGMENT, { by: 'keep', of: 0 }], 'stays', false, ['\n', '\n'], late(0, 0, 1)],
        ],
      },
    )
  })
})
