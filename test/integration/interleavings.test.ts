import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { startsTurn } from '../../src/conversation/user-prompts.ts'
import { succeeds, waitFor } from '../host/wait-for.ts'
import { agentLog, fixtureAgent, invalidMessages, openGate } from '../ui/support/fixture-agent.ts'
import { Questions, SideBar } from './installed-parley.ts'

const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliett']
const LAST = 'juliett'
/** The file: a word in each line, some of them replaced. */
const text = (...changed: Array<[word: string, by: string]>) =>
  WORDS.map(word => `${changed.find(([of]) => of === word)?.[1] ?? word}\n`).join('')
/** An edit of the agent. It changes the file's size, since VS Code can miss a change that doesn't. */
const by = (word: string): [string, string] => [word, `${word.toUpperCase()} too`]
/** The user's edit, at the end of the file. */
const MINE: [string, string] = [LAST, `${LAST} mine`]

const AGENTS = [
  ['by-itself', 'by itself', 'edit'],
  ['through-client', 'through the client', 'client-edit'],
] as const

// The documents, their saves, the formatter and the file watchers are VS Code's, the agent is a process, and Parley is the
// installed one.
describe('a file that the user and an agent both edit', () => {
  const logs = { directory: realpathSync(mkdtempSync(join(tmpdir(), 'interleavings-'))) }
  // VS Code opens the file of settings for each change. When it does so repeatedly, its extension host may lose track of all
  // documents, so both agents are set at once.
  const set = (agents: Record<string, object> | undefined) =>
    vscode.workspace.getConfiguration('parley').update('agents', agents, vscode.ConfigurationTarget.Global)

  before(async () => {
    const agents = AGENTS.map(([agent]) => {
      const { env, ...setting } = fixtureAgent(logs, agent)
      return [agent, { ...setting, env: { ...env, ELECTRON_RUN_AS_NODE: '1' } }] as const
    })
    await set(Object.fromEntries(agents))
  })
  after(async () => {
    await set(undefined)
    for (const [agent] of AGENTS) assert.deepEqual(invalidMessages(agentLog(logs, agent)), [])
    rmSync(logs.directory, { recursive: true, force: true })
  })

  for (const [agent, how, edits] of AGENTS) {
    describe(`that writes ${how}`, () => {
      const sideBar = new SideBar()
      const questions = new Questions()
      afterEach(async () => {
        await endTurn()
        await vscode.commands.executeCommand('workbench.action.files.revert')
        await vscode.commands.executeCommand('workbench.action.closeAllEditors')
        rmSync(file(), { force: true })
      })

      let name = ''
      let tries = 0
      const place = () => vscode.workspace.workspaceFolders![0]!.uri.fsPath
      const file = () => join(place(), name)
      const disk = () => (existsSync(file()) ? readFileSync(file(), 'utf8') : undefined)
      const holds = (content: string | undefined) =>
        waitFor('the text on the disk', () => disk() === content).catch(() =>
          assert.equal(disk(), content, `on the disk; unanswered: ${questions.unanswered.join(' | ')}`),
        )

      async function begin(content = text(), extension = 'txt'): Promise<void> {
        name = `${agent}-${++tries}.${extension}`
        writeFileSync(file(), content)
        await sideBar.startSession(agent)
      }

      // ---- what the agent does ---------------------------------------------------------------------------------------

      const spaced = (words: string) => words.replaceAll(' ', '\\s')
      const replace = (from: string, to: string) => `[[${edits} ${name} ${spaced(from)} ${spaced(to)}]]`
      const edit = (word: string) => replace(...by(word))
      /** The agent goes on when the test opens it. */
      const GATE = '[[gate]]'
      const open = () => openGate(logs, agent)

      /** Sends a prompt whose turn takes these steps. */
      const send = (scenario: string, ...steps: string[]) =>
        sideBar.enqueue([...steps, `[[say Finished ${scenario}.]]`].join(' '))
      const finished = (scenario: string) => sideBar.said(`Finished ${scenario}.`)
      async function play(scenario: string, ...steps: string[]): Promise<void> {
        send(scenario, ...steps)
        await finished(scenario)
      }

      /** A test that failed leaves a turn that waits for the gate of the next one, and changes. */
      async function endTurn(): Promise<void> {
        const isIdle = () => sideBar.head.activity === 'idle'
        if (!isIdle()) sideBar.send('conversation/cancel')
        if (shownFiles()?.length) sideBar.send('changes/keep')
        const isClean = () => isIdle() && !shownFiles()?.length
        // a failed hook would skip all other tests
        await succeeds(waitFor('the end of the turn', isClean, { timeout: 10_000 }))
      }

      // ---- what the user does ----------------------------------------------------------------------------------------

      let editor: vscode.TextEditor
      async function show(): Promise<void> {
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file()))
        editor = await vscode.window.showTextDocument(document)
      }
      /** Waits until VS Code shows a text in the editor. */
      const shows = (content: string) =>
        waitFor(`“${content}” in the editor`, () => editor.document.getText().includes(content))
      /** Also in its tab, which may know it later, and which Parley trusts. */
      const isSaved = () =>
        waitFor('the saved document', () => {
          const { activeTab } = vscode.window.tabGroups.activeTabGroup
          return !editor.document.isDirty && activeTab?.isDirty === false
        })
      /** Resolves when VS Code notices that the file is deleted. */
      function noticesDeletion(): Promise<void> {
        const pattern = new vscode.RelativePattern(vscode.Uri.file(place()), name)
        const watcher = vscode.workspace.createFileSystemWatcher(pattern)
        return new Promise(resolve =>
          watcher.onDidDelete(() => {
            watcher.dispose()
            resolve()
          }),
        )
      }
      function cursorAt(content: string): void {
        const at = editor.document.positionAt(editor.document.getText().indexOf(content) + content.length)
        editor.selection = new vscode.Selection(at, at)
      }
      /** Types after a word. */
      async function type(typed: string, after: string): Promise<void> {
        await vscode.window.showTextDocument(editor.document)
        cursorAt(after)
        await waitFor('the cursor', () => vscode.window.activeTextEditor === editor)
        await vscode.commands.executeCommand('type', { text: typed })
        await shows(after + typed)
      }
      const typeMine = () => type(' mine', LAST)
      const save = () => vscode.commands.executeCommand('workbench.action.files.save')
      async function revertChange(at: string): Promise<void> {
        await shows(at)
        cursorAt(at)
        await vscode.commands.executeCommand('parley.revertChange')
      }

      // ---- the review ------------------------------------------------------------------------------------------------

      const shownFiles = () =>
        sideBar.changed?.key === sideBar.head.key ? sideBar.changed?.files : undefined
      /** Waits until only this file is listed, with this number of added or removed lines. */
      const changed = (lines: { added: number } | { removed: number }) =>
        waitFor(`one changed file, ${JSON.stringify(lines)}`, () => {
          const [first, ...others] = shownFiles() ?? []
          const counts = { added: first?.added, removed: first?.removed }
          return (
            others.length === 0 &&
            first?.path === file() &&
            Object.entries(lines).every(([count, expected]) => counts[count as 'added'] === expected)
          )
        }).catch(error => assert.fail(`${error.message}, but ${JSON.stringify(shownFiles())}`))
      const nothingChanged = () =>
        waitFor('no changed files', () => shownFiles()?.length === 0).catch(error =>
          assert.fail(`${error.message}, but ${JSON.stringify(shownFiles())}`),
        )
      async function revertAll(button = 'Revert'): Promise<void> {
        sideBar.send('changes/undo')
        await questions.answer(`Revert all changes made to planets-api/${name} in this session?`, button)
      }
      /** Expects that reverting is refused, since it would discard unsaved text. */
      async function revertIsRefused(): Promise<void> {
        const before = disk()
        // the agent didn't report the deletion
        await revertAll('Revert All')
        await questions.answer('Save these files or discard their unsaved changes')
        assert.equal(disk(), before)
        await shows(MINE[1])
      }

      it('keeps what the user saves between two writes of the agent @floor', async () => {
        await begin()
        await show()
        send('saving', edit('bravo'), GATE, edit('foxtrot'))
        await shows('BRAVO')
        await typeMine()
        await save()
        await holds(text(by('bravo'), MINE))
        await isSaved()
        open()
        await finished('saving')
        await holds(text(by('bravo'), by('foxtrot'), MINE))
        await changed({ added: 2 })
        await revertAll()
        await holds(text(MINE))
        await nothingChanged()
      })

      it('keeps what the user typed and saves it after the agent deleted the file', async () => {
        await begin()
        await show()
        send('deleting', edit('bravo'), GATE, `[[remove ${name}]]`)
        await shows('BRAVO')
        // what the user types meanwhile is saved with it
        await holds(text(by('bravo')))
        await isSaved()
        await typeMine()
        const noticed = noticesDeletion()
        open()
        await finished('deleting')
        await holds(undefined)
        // both notice the deletion a moment later, and would restore the file until then
        await changed({ removed: 10 })
        await noticed
        await revertIsRefused()
        await save()
        await holds(text(by('bravo'), MINE))
        await isSaved()
        await changed({ added: 1 })
        await revertAll()
        await holds(text(MINE))
        await nothingChanged()
      })

      it('allows one change to be reverted while another turn writes', async () => {
        await begin()
        await show()
        await play('first', edit('bravo'), edit('hotel'))
        await changed({ added: 2 })
        send('second', GATE, edit('echo'))
        await revertChange('BRAVO')
        await holds(text(by('hotel')))
        open()
        await finished('second')
        await holds(text(by('echo'), by('hotel')))
        await changed({ added: 2 })
        await revertAll()
        await holds(text())
        await nothingChanged()
      })

      it("keeps the user's later lines when the turn is reverted and restored", async () => {
        await begin()
        await show()
        await play('before', edit('bravo'))
        await shows('BRAVO')
        await typeMine()
        await save()
        await holds(text(by('bravo'), MINE))
        await isSaved()
        await changed({ added: 1 })
        await revertAll()
        await holds(text(MINE))
        await nothingChanged()
        await vscode.commands.executeCommand('parley.restoreReverted')
        await holds(text(by('bravo'), MINE))
        await changed({ added: 1 })
        sideBar.send('changes/keep')
        await nothingChanged()
        await holds(text(by('bravo'), MINE))
      })

      it('can be changed by two sessions, each of which reverts only its own changes', async () => {
        await begin()
        send('one', edit('bravo'), GATE, edit('echo'))
        await holds(text(by('bravo')))
        await sideBar.startSession(agent)
        await play('two', edit('hotel'))
        await holds(text(by('bravo'), by('hotel')))
        await changed({ added: 1 })
        await revertAll()
        await holds(text(by('bravo')))
        await nothingChanged()
        open()
        await holds(text(by('bravo'), by('echo')))
        await show()
        await shows('ECHO')
        await vscode.commands.executeCommand('parley.revertFileChanges')
        await holds(text())
      })

      it('can be restored to a checkpoint while it has unsaved changes', async () => {
        await begin()
        await show()
        await play('restoring', edit('bravo'))
        await shows('BRAVO')
        await typeMine()
        const prompt = await sideBar.last('the prompt', startsTurn)
        sideBar.send('actions/entry', { command: 'parley.restoreCheckpoint', entryId: prompt.id })
        await shows('bravo')
        await shows(MINE[1])
        await save()
        await holds(text(MINE))
        const notice = await sideBar.last('the restore', entry => entry.kind === 'notice')
        sideBar.send('actions/entry', { command: 'parley.undoRestore', entryId: notice.id })
        await holds(text(by('bravo'), MINE))
      })

      it('can be formatted when the user saves it after the agent wrote it', async () => {
        const json = (bravo: string, last: string) =>
          `{\n  "alpha": 1,\n  "bravo":${bravo},\n  "charlie": 3,\n  "delta": ${last}\n}\n`
        await begin(json(' 2', '4'), 'json')
        await show()
        await play('formatting', replace('"bravo": 2,', '"bravo":22,'))
        await shows('22')
        await changed({ added: 1 })
        // VS Code saves without formatting if the formatter takes too long, as it may while it starts
        const isFormattedByUser = disk() !== json(' 22', '4')
        await type('2', '"delta": 4')
        await save()
        await holds(json(' 22', '42'))
        await changed({ added: 1 })
        await revertAll()
        if (isFormattedByUser) await questions.answer("so they weren't reverted", 'Revert Anyway')
        await holds(json(' 2', '42'))
        await nothingChanged()
      })

      it('can be stashed and restored by the user with Git during the turn', async () => {
        await begin()
        const git = (...words: string[]) =>
          execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], {
            cwd: place(),
            encoding: 'utf8',
          })
        try {
          git('init', '-q')
          git('add', '-A')
          git('commit', '-qm', 'all')
          const head = git('rev-parse', 'HEAD')
          send('stashing', edit('bravo'), GATE, edit('foxtrot'))
          await holds(text(by('bravo')))
          await changed({ added: 1 })
          git('stash')
          await holds(text())
          git('stash', 'pop', '-q')
          writeFileSync(file(), text(by('bravo'), MINE))
          git('stash')
          git('checkout', '-q', '-b', 'other')
          git('stash', 'pop', '-q')
          open()
          await finished('stashing')
          await holds(text(by('bravo'), by('foxtrot'), MINE))
          await show()
          for (const word of ['FOXTROT', 'BRAVO']) {
            await revertChange(word)
            await shows(word.toLowerCase())
          }
          await holds(text(MINE))
          assert.equal(git('rev-parse', 'HEAD'), head)
          assert.equal(git('stash', 'list'), '')
        } finally {
          await vscode.commands.executeCommand('workbench.action.closeAllEditors')
          await closeRepository(vscode.Uri.file(place()))
          rmSync(join(place(), '.git'), { recursive: true, force: true })
        }
      })
    })
  }
})

/** VS Code's Git support fails in ways that end a test if the folder vanishes while it's used. */
async function closeRepository(folder: vscode.Uri): Promise<void> {
  const git = (await vscode.extensions.getExtension('vscode.git')!.activate()).getAPI(1)
  await git.getRepository(folder)?.status()
  if (git.getRepository(folder)) await vscode.commands.executeCommand('git.close', folder)
  await waitFor('the closed repository', () => !git.getRepository(folder))
}
