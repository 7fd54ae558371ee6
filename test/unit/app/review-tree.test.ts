import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandId } from '../../../src/app/ids.ts'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import type * as reviewTree from '../../../src/workbench/changes/review-tree.ts'
import type * as changeCommands from '../../../src/workbench/commands/change-commands.ts'
import { waitFor } from '../../host/wait-for.ts'
import { editorChanges } from '../../support/editor-changes.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import * as values from '../../support/page/editor/values.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

class TreeItem {
  description?: string
  contextValue?: string
  readonly label: string
  constructor(label: string) {
    this.label = label
  }
}

describe('the tree of a review', () => {
  const folder = useTemporaryFolder()
  let source: typeof reviewTree & typeof changeCommands
  let tracker: ChangeTracker
  let review: ChangeScope | undefined
  /** Another review is opened. */
  let open: () => void
  let tree: InstanceType<typeof reviewTree.ReviewTree>
  let handlers: Record<string, (...args: unknown[]) => unknown>
  let status: { text: string; command: string }
  let context: Map<unknown, unknown>
  let told: string[]

  type Node = NonNullable<Parameters<typeof tree.getChildren>[0]>
  /** Each row with its level, what it says, and whether it can be decided about. */
  const rows = (nodes = tree.getChildren(), level = ''): string[] =>
    nodes.flatMap(node => {
      const { label, description, contextValue } = tree.getTreeItem(node) as unknown as TreeItem
      const row = [`${level}${label}`, description, contextValue === 'undecided' ? 'open' : undefined]
      return [row.filter(Boolean).join(', '), ...rows(tree.getChildren(node), `${level}  `)]
    })
  const shows = (...expected: string[]) =>
    waitFor(expected.join('\n'), () => rows().join('\n') === expected.join('\n'))
  const find = (label: string, nodes: Node[] = tree.getChildren()): Node | undefined => {
    for (const node of nodes) {
      const found =
        (tree.getTreeItem(node) as unknown as TreeItem).label === label
          ? node
          : find(label, tree.getChildren(node))
      if (found) return found
    }
    return undefined
  }
  const edit = async (session: string, name: string, from: string, to: string) => {
    const path = join(folder(), name)
    const changes = new SessionChanges(tracker, session, { cwd: folder(), additionalDirectories: [] })
    const oldText = readFileSync(path, 'utf8')
    const newText = oldText.replace(from, to)
    writeFileSync(path, newText)
    const diffs = [{ changes: [{ operation: 'modify' as const, path, oldText, newText }] }]
    await changes.tool({ toolCallId: `${name} ${to}`, begun: true, done: true }, diffs, [])
    return changes
  }

  before(async () => {
    const vscode = {
      ...values,
      TreeItem,
      TreeItemCollapsibleState: { Expanded: 2 },
      StatusBarAlignment: { Left: 1 },
      commands: {
        executeCommand: async (_command: string, key: unknown, value: unknown) => context.set(key, value),
      },
      extensions: { getExtension: () => undefined },
      window: {
        createStatusBarItem: () => {
          status = { text: '', command: '' }
          return Object.assign(status, { show() {}, hide() {}, dispose() {} })
        },
        createTreeView: () => ({ dispose() {} }),
        showInformationMessage: async (text: string) => void told.push(text),
      },
    }
    const loaded = await Promise.all([
      loadWithFakeVsCode<typeof reviewTree>('workbench/changes/review-tree.ts', vscode),
      loadWithFakeVsCode<typeof changeCommands>('workbench/commands/change-commands.ts', vscode),
    ])
    source = Object.assign({}, ...loaded)
  })

  beforeEach(async () => {
    context = new Map()
    told = []
    tracker = memoryTracker()
    for (const name of ['src/deep/er/a.txt', 'src/deep/er/b.txt', 'src/z.txt']) {
      mkdirSync(dirname(join(folder(), name)), { recursive: true })
      writeFileSync(join(folder(), name), 'one\ntwo\nthree\n')
    }
    review = new ChangeScope(tracker)
    const which = () => review && { session: review.session, and: 'origins' }
    const reviews = {
      get openReview() {
        return which()
      },
      get shownReview() {
        return which()
      },
      onDidChangeReviews(listener: () => void) {
        open = listener
        return new values.Disposable(() => {})
      },
    }
    const { changes, decisions } = editorChanges(tracker, undefined, () => review)
    tree = new source.ReviewTree(changes, reviews as never)
    handlers = source.changeCommands({
      decisions,
      reviews,
      reviewTree: tree,
      cursor: { at: async () => undefined },
    } as never) as unknown as typeof handlers
    await edit('first', 'src/deep/er/a.txt', 'one', 'ONE')
    await edit('first', 'src/deep/er/a.txt', 'three', 'THREE')
    await edit('first', 'src/deep/er/b.txt', 'two', 'TWO')
    await edit('first', 'src/z.txt', 'two\n', '')
  })
  afterEach(() => {
    tree.dispose()
    tracker.dispose()
  })

  it('has its files in folders, which a decision about all of them leaves', async () => {
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, +1 −1, open', 'z.txt, +0 −1, open')
    assert.equal(status.text, '$(checklist) 0 of 4 decided')
    const deep = find('deep/er')
    await handlers['parley.keepFileChanges']!(deep)
    await shows('deep/er', '  a.txt, Kept', '  b.txt, Kept', 'z.txt, +0 −1, open')
    await handlers['parley.revertFileChanges']!(find('z.txt'))
    await shows('deep/er', '  a.txt, Kept', '  b.txt, Kept', 'z.txt, Reverted')
    assert.equal(status.text, '$(check-all) All reviewed')
    assert.deepEqual(told, ['All changes reviewed: 3 kept, 1 reverted.'])
    assert.equal(context.get('parley.reviewDone'), true)
  })

  /** The rows that the tree updates from now on. */
  function updates(): Array<string | string[]> {
    const updated: Array<string | string[]> = []
    tree.onDidChangeTreeData(nodes => {
      const labels = nodes?.map(node => (tree.getTreeItem(node) as unknown as TreeItem).label)
      updated.push(labels ?? 'all')
    })
    return updated
  }

  it('updates only the folder in which files are added or hidden', async () => {
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, +1 −1, open', 'z.txt, +0 −1, open')
    const updated = updates()
    const [deep, z] = tree.getChildren()
    writeFileSync(join(folder(), 'src/deep/er/aa.txt'), 'one\n')
    await edit('first', 'src/deep/er/aa.txt', 'one', 'ONE')
    const rest = ['  b.txt, +1 −1, open', 'z.txt, +0 −1, open']
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  aa.txt, +1 −1, open', ...rest)
    assert.deepEqual(updated, [['deep/er']])
    assert.deepEqual(tree.getChildren(), [deep, z])
    await handlers['parley.keepFileChanges']!(find('aa.txt'))
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  aa.txt, Kept', ...rest)
    await handlers[CommandId.toggleDecided]!()
    await shows('deep/er, open', '  a.txt, +2 −2, open', ...rest)
    assert.deepEqual(updated, [['deep/er'], ['aa.txt'], ['deep/er']])
    assert.equal(tree.getChildren()[0], deep)
    // another folder at the first level
    writeFileSync(join(folder(), 'src/y.txt'), 'one\n')
    await edit('first', 'src/y.txt', 'one', 'ONE')
    await waitFor('the whole tree', () => JSON.stringify(updated.at(-1)) === '"all"')
    assert.equal(tree.getChildren()[0], deep)
  })

  it('updates the rows alone that a decision changes', async () => {
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, +1 −1, open', 'z.txt, +0 −1, open')
    const updated = updates()
    const keep = (name: string) => review!.keep({ paths: [join(folder(), name)] })
    const last = () => JSON.stringify(updated.at(-1))
    keep('src/deep/er/a.txt')
    await waitFor('one row', () => last() === '["a.txt"]')
    const kept = keep('src/deep/er/b.txt')
    await waitFor('its folder, too', () => last() === '["b.txt","deep/er"]')
    await shows('deep/er', '  a.txt, Kept', '  b.txt, Kept', 'z.txt, +0 −1, open')
    await kept.undo()
    await shows('deep/er, open', '  a.txt, Kept', '  b.txt, +1 −1, open', 'z.txt, +0 −1, open')
    assert.equal(updated.includes('all'), false)
  })

  it('leaves out what is decided on request', async () => {
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, +1 −1, open', 'z.txt, +0 −1, open')
    await handlers['parley.keepFileChanges']!(find('b.txt'))
    await handlers[CommandId.toggleDecided]!()
    await shows('deep/er, open', '  a.txt, +2 −2, open', 'z.txt, +0 −1, open')
    await handlers[CommandId.toggleDecided]!()
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, Kept', 'z.txt, +0 −1, open')
  })

  it("doesn't say that all is reviewed if Git takes the rest out of the files", async () => {
    const run = (...args: string[]) =>
      execFileSync('git', [...author, ...args], { cwd: join(folder(), 'git'), stdio: 'pipe' })
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@t.example']
    mkdirSync(join(folder(), 'git'))
    for (const name of ['git/x.txt', 'git/y.txt']) writeFileSync(join(folder(), name), 'one\ntwo\n')
    run('init', '-q')
    run('add', '.')
    run('commit', '-q', '-m', 'first')
    await edit('second', 'git/x.txt', 'one', 'ONE')
    review = await edit('second', 'git/y.txt', 'two', 'TWO')
    open()
    await shows('x.txt, +1 −1, open', 'y.txt, +1 −1, open')
    run('stash')
    await review.refresh()
    // nothing was decided
    await shows()
    assert.equal(context.get('parley.reviewOpen'), false)
    run('stash', 'pop')
    await review.refresh()
    await shows('x.txt, +1 −1, open', 'y.txt, +1 −1, open')
    review.keep({ paths: [join(folder(), 'git/x.txt')] })
    await shows('x.txt, Kept', 'y.txt, +1 −1, open')
    assert.equal(status.text, '$(checklist) 1 of 2 decided')
    run('checkout', 'y.txt')
    await review.refresh()
    await shows('x.txt, Kept')
    assert.equal(status.text, '$(check-all) No changes left')
    assert.deepEqual(told, [])
  })

  it('decides about what the session before changed in a conversation that was continued', async () => {
    const second = await edit('second', 'src/z.txt', 'three', '3')
    second.origins = () => [{ session: 'first', turn: 9, continued: true }]
    review = second
    open()
    second.keep({ paths: [join(folder(), 'src/z.txt')] })
    await shows('deep/er, open', '  a.txt, +2 −2, open', '  b.txt, +1 −1, open', 'z.txt, Kept')
    await handlers['parley.keepFileChanges']!(find('a.txt'))
    await shows('deep/er, open', '  a.txt, Kept', '  b.txt, +1 −1, open', 'z.txt, Kept')
  })
})
