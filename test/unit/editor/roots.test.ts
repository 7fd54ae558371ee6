import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { RootsPlan } from '../../../src/common/roots-plan.ts'
import { FolderComparison } from '../../../src/editor/folder-comparison.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'
import {
  ensureScratchFolder,
  planRoots,
  type RootsInput,
  rootsForExisting,
  rootsForScratch,
  rootsIn,
  rootsOf,
  type WorkspaceRoot,
} from '../../../src/editor/roots.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

const folder = (path: string, more: Partial<WorkspaceRoot> = {}): WorkspaceRoot => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  scheme: 'file',
  path,
  ...more,
})
const app = folder('/w/app')
const lib = folder('/w/lib')
const docs = folder('/w/docs')

function input(more: Partial<RootsInput> = {}): RootsInput {
  const rules = more.rules ?? new PathRules('linux')
  return {
    folders: [app, lib, docs],
    setting: 'activeEditor',
    additionalDirectories: true,
    home: '/home/me',
    rules,
    compare: new FolderComparison(rules),
    ...more,
  }
}
function planned(more: Partial<RootsInput> = {}): RootsPlan {
  const decision = planRoots(input(more))
  assert.equal(decision.type, 'planned')
  return decision.type === 'planned' ? decision.plan : assert.fail()
}

describe('the roots of a new session', () => {
  it('are the only folder, whatever the setting', () => {
    for (const setting of ['ask', 'activeEditor', 'first'] as const) {
      const plan = planned({ folders: [app], setting })
      assert.deepEqual(plan, { cwd: '/w/app', cwdLabel: 'app', additional: [], unseen: [], scratch: false })
    }
  })

  it('start with the folder of the active editor, followed by the others', () => {
    const plan = planned({ activePath: '/w/lib/src/x.ts' })
    assert.deepEqual(rootsOf(plan), { cwd: '/w/lib', additionalDirectories: ['/w/app', '/w/docs'] })
    assert.equal(plan.cwdLabel, 'lib')
    assert.deepEqual(plan.additional[0], { path: '/w/app', label: 'app' })
  })

  it('start with the first folder if the active editor is in none of them', () => {
    assert.equal(planned().cwd, '/w/app')
    assert.equal(planned({ activePath: '/w/library/x.ts' }).cwd, '/w/app')
    assert.equal(planned({ setting: 'first', activePath: '/w/lib/x' }).cwd, '/w/app')
  })

  it('ask if the setting says so and there are several folders', () => {
    assert.deepEqual(planRoots(input({ setting: 'ask' })), { type: 'pick', choices: [app, lib, docs] })
    assert.equal(planned({ setting: 'ask', picked: '/w/docs' }).cwd, '/w/docs')
    assert.equal(planRoots(input({ setting: 'ask', picked: '/w/gone' })).type, 'pick')
  })

  it("start with the user's choice whatever the setting", () => {
    assert.equal(planned({ activePath: '/w/lib/x', picked: '/w/docs' }).cwd, '/w/docs')
  })

  it("report the folders that the agent can't see if it supports only one", () => {
    const plan = planned({ additionalDirectories: false })
    assert.deepEqual(rootsOf(plan).additionalDirectories, [])
    assert.deepEqual(
      plan.unseen.map(({ label }) => label),
      ['lib', 'docs'],
    )
    for (const { reason } of plan.unseen) assert.match(reason, /more than one folder/)
  })

  it('contain a folder only once, and the cwd never twice', () => {
    const plan = planned({ folders: [app, folder('/w/app/'), lib, folder('/w/lib/../lib')] })
    assert.deepEqual(rootsOf(plan), { cwd: '/w/app', additionalDirectories: ['/w/lib'] })
  })

  it('ignore case if the file system does', () => {
    const folders = [app, folder('/W/App'), lib]
    assert.deepEqual(planned({ folders, rules: new PathRules('darwin') }).additional, [
      { path: '/w/lib', label: 'lib' },
    ])
    assert.equal(planned({ folders }).additional.length, 2)
    const windows = new PathRules('win32')
    const drives = [folder('c:\\work\\app'), folder('C:\\Work\\lib')]
    assert.equal(
      planned({ folders: drives, rules: windows, activePath: 'c:\\work\\LIB\\x' }).cwd,
      'C:\\Work\\lib',
    )
  })

  it('keep nested folders and start with the innermost', () => {
    const nested = folder('/w/app/packages/core')
    const plan = planned({ folders: [app, nested], activePath: '/w/app/packages/core/x.ts' })
    assert.deepEqual(rootsOf(plan), { cwd: '/w/app/packages/core', additionalDirectories: ['/w/app'] })
    const outer = planned({ folders: [app, nested], activePath: '/w/app/x.ts' })
    assert.deepEqual(rootsOf(outer), { cwd: '/w/app', additionalDirectories: ['/w/app/packages/core'] })
  })

  it("don't report folders within the cwd as unseen", () => {
    const plan = planned({
      folders: [app, folder('/w/app/packages/core'), lib],
      additionalDirectories: false,
    })
    assert.deepEqual(
      plan.unseen.map(({ label }) => label),
      ['lib'],
    )
  })

  it("omit folders that aren't on this disk, and report them", () => {
    const remote = folder('/repo', { scheme: 'vscode-vfs', name: 'remote' })
    const plan = planned({ folders: [remote, lib] })
    assert.equal(plan.cwd, '/w/lib')
    assert.equal(plan.unseen[0]?.label, 'remote')
    assert.match(plan.unseen[0]?.reason ?? '', /vscode-vfs:/)
  })

  it('are a scratch folder if no folder is open', () => {
    assert.deepEqual(planRoots(input({ folders: [] })), { type: 'scratch', unseen: [] })
    const decision = planRoots(input({ folders: [folder('/r', { scheme: 'untitled' })] }))
    assert.equal(decision.type, 'scratch')
    const plan = rootsForScratch('/store/scratch', decision.type === 'scratch' ? decision.unseen : [])
    assert.equal(plan.scratch, true)
    assert.equal(plan.unseen.length, 1)
    assert.deepEqual(rootsOf(plan), { cwd: '/store/scratch', additionalDirectories: [] })
  })
})

describe('the roots of an existing session', () => {
  it('are its own and those of this window, which are marked', () => {
    const own = { cwd: '/w/lib', additionalDirectories: ['/w/docs', '/else/where', 'relative'] }
    const plan = rootsForExisting(own, input())
    assert.deepEqual(plan.additional, [
      { path: '/w/app', label: 'app', added: true },
      { path: '/w/docs', label: 'docs' },
      { path: '/else/where', label: '/else/where' },
    ])
    assert.deepEqual(plan.unseen, [])
  })

  it("are only the session's own if it belongs to another workspace", () => {
    const own = { cwd: '/home/me/other', additionalDirectories: ['/home/me/lib'] }
    const plan = rootsForExisting(own, input())
    assert.deepEqual(rootsOf(plan), { cwd: '/home/me/other', additionalDirectories: ['/home/me/lib'] })
    assert.deepEqual(
      plan.unseen.map(({ label }) => label),
      ['app', 'lib', 'docs'],
    )
    assert.match(plan.unseen[0]?.reason ?? '', /another workspace/)
    assert.match(plan.cwdRemark ?? '', /isn't open in this window/)
  })

  it('report unseen folders if the agent supports only one', () => {
    const own = { cwd: '/w/lib', additionalDirectories: ['/else/where'] }
    const plan = rootsForExisting(own, input({ additionalDirectories: false }))
    assert.deepEqual(plan.additional, [])
    assert.ok(plan.unseen.some(({ label }) => label === '/else/where'))
  })

  it('keep its cwd, followed by the other folders', () => {
    const plan = rootsIn('/w/lib', input())
    assert.deepEqual(rootsOf(plan), { cwd: '/w/lib', additionalDirectories: ['/w/app', '/w/docs'] })
    assert.equal(plan.cwdLabel, 'lib')
    assert.equal(plan.cwdRemark, undefined)
  })

  it('report that the session is from another workspace', () => {
    const plan = rootsIn('/home/me/other', input())
    assert.deepEqual(rootsOf(plan), {
      cwd: '/home/me/other',
      additionalDirectories: ['/w/app', '/w/lib', '/w/docs'],
    })
    assert.equal(plan.cwdLabel, '~/other')
    assert.match(plan.cwdRemark ?? '', /isn't open in this window/)
  })

  it("don't report it for a folder within the workspace", () => {
    assert.equal(rootsIn('/w/app/src', input()).cwdRemark, undefined)
  })

  it('contain the cwd exactly as the agent reported it', () => {
    const plan = rootsIn('/W/App', input({ rules: new PathRules('darwin') }))
    assert.equal(plan.cwd, '/W/App')
    assert.deepEqual(
      plan.additional.map(({ label }) => label),
      ['lib', 'docs'],
    )
  })

  it('recognize the scratch folder', () => {
    const plan = rootsIn('/store/scratch', {
      ...input({ folders: [] }),
      scratchFolder: '/store/scratch',
    })
    assert.equal(plan.scratch, true)
    assert.equal(plan.cwdRemark, undefined)
  })

  it('reject a relative cwd (quirk 21)', () => {
    for (const cwd of ['', '.', 'w/app', '~']) {
      assert.throws(() => rootsIn(cwd, input()), /isn't an absolute path/)
    }
  })
})

describe('the scratch folder', () => {
  const storage = useTemporaryFolder()

  it('is created when needed, and is accessible only to the user', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = await ensureScratchFolder(path.join(storage(), 'global'))
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  it('is made private again, and keeps its content', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = await ensureScratchFolder(storage())
    writeFileSync(path.join(folder, 'note'), 'x')
    chmodSync(folder, 0o755)
    assert.equal(await ensureScratchFolder(storage()), folder)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.equal(statSync(path.join(folder, 'note')).size, 1)
  })

  it("can't be a link or a file", async () => {
    mkdirSync(path.join(storage(), 'elsewhere'))
    symlinkSync(path.join(storage(), 'elsewhere'), path.join(storage(), 'scratch'), 'junction')
    await assert.rejects(ensureScratchFolder(storage()), /isn't a folder/)
  })
})
