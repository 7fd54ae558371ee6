import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { ChatTools } from '../../../src/app/mcp/chat-tools.ts'
import type { Dialogs } from '../../../src/app/workbench.ts'
import { EDITOR_TOOL_NAMES } from '../../../src/common/editor-tool-names.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { PathGuard } from '../../../src/editor/path-guard.ts'
import { EditorTools } from '../../../src/mcp/server/editor-tools.ts'
import { McpSwitches } from '../../../src/mcp/switches.ts'
import { FakeEditorFeatures } from '../../support/fake-editor-features.ts'
import { connect } from '../../support/tool-rig.ts'
import { toolWorkspace } from '../../support/tool-workspace.ts'
import { memoryStore } from '../sessions/sessions-fixture.ts'

describe("the editor tools for VS Code's chat", () => {
  let folder: string
  let remove: () => void
  let loaded: number
  let isOn: boolean
  let folders: Array<{ name: string; path: string }>
  let answer: string | undefined
  let questions: string[]
  let secrets: SecretRegistry
  let editorTools: EditorTools
  let chat: ChatTools
  let written: () => void
  let clients: Client[]
  const changed = new Emitter<void>()

  beforeEach(() => {
    ;({ folder, remove } = toolWorkspace())
    ;[loaded, isOn, answer, questions, clients] = [0, true, undefined, [], []]
    folders = [{ name: 'one', path: folder }]
    written = () => {}
    secrets = new SecretRegistry()
    editorTools = new EditorTools({
      features: async () => {
        loaded += 1
        const features = new FakeEditorFeatures(folder)
        features.testTools = { runTests: async () => 'passed' }
        return features
      },
      names: () => EDITOR_TOOL_NAMES,
      onDidChangeNames: () => ({ dispose() {} }),
      switches: new McpSwitches(memoryStore(), memoryStore()),
      guard: roots => new PathGuard(roots),
      bridge: () => assert.fail(),
      version: '1',
      secrets,
      log: silentLogger,
    })
    const dialogs: Partial<Dialogs> = {
      confirm: async (text, { detail = '' }) => {
        questions.push(`${text}\n${detail}`)
        return answer
      },
      input: async ({ prompt }) => `answer to ${prompt}`,
      pick: async items => items[1],
    }
    chat = new ChatTools({
      workbench: {
        dialogs: dialogs as Dialogs,
        get settingValues() {
          return { editorToolsInChat: isOn }
        },
        settings: {
          onDidChange: (_name: string, listener: () => void) => changed.event(listener),
        } as never,
        get folders() {
          return folders
        },
      },
      editorTools,
      files: filesShared({
        documents: noDocuments,
        fileSystem: {
          ...disk,
          rename: async (from, to) => {
            await disk.rename(from, to)
            written()
          },
        },
      }),
    })
  })
  afterEach(async () => {
    for (const client of clients) await client.close()
    chat.dispose()
    editorTools.dispose()
    remove()
  })

  const open = async () => {
    const { url, headers } = await chat.open()
    const token = headers.Authorization!.replace('Bearer ', '')
    const client = await connect({ url, token })
    clients.push(client)
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const { content } = await client.callTool({ name, arguments: input })
      return (content as Array<{ text: string }>)[0]!.text
    }
    return { url, token, call }
  }

  it('start nothing before the chat uses them, and have a token that logs redact', async () => {
    assert.equal(loaded, 0)
    const { call, token } = await open()
    assert.equal(loaded, 1)
    assert.doesNotMatch(secrets.redact(token), new RegExp(token))
    assert.match(await call('definition', { file: 'main.ts', name: 'totalArea' }), /shapes\.ts:12:17/)
    assert.deepEqual(questions, [])
  })

  it('ask by a dialog before they change something', async () => {
    const { call } = await open()
    const rename = () => call('rename_symbol', { name: 'report', new_name: 'summary' })
    assert.match(await rename(), /rejected/)
    assert.doesNotMatch(readFileSync(join(folder, 'main.ts'), 'utf8'), /summary/)
    answer = 'Allow'
    assert.match(await rename(), /Changed and saved 1 file/)
    assert.match(readFileSync(join(folder, 'main.ts'), 'utf8'), /function summary\(/)
    const expected = `Allow VS Code chat to do this?\nRename report to summary\n\n${join(folder, 'main.ts')}`
    assert.deepEqual(questions, [expected, expected])
  })

  it('show what they ask for completely, or do not ask', async () => {
    answer = 'Allow'
    const { call } = await open()
    const run = (name: string) => call('run_tests', { names: [name] })
    await run('a\u202eb\n\nAll is well.')
    assert.match(questions[0] ?? '', /^Allow VS Code chat to do this\?\n.*a‹U\+202E›b All is well\.$/)
    const many = Array.from({ length: 50 }, (_, at) => `${'x'.repeat(400)}${at}`)
    assert.match(await call('run_tests', { names: many }), /too long to be shown/)
    assert.equal(questions.length, 1)
    await call('terminal_output')
    assert.match(questions[1] ?? '', /until the editor tools restart/)
  })

  it('ask the user by inputs', async () => {
    const { call } = await open()
    assert.equal(await call('ask_user', { question: 'Why?' }), 'The user answered: answer to Why?')
    assert.equal(
      await call('ask_user', { question: 'Which?', choices: ['red', 'blue'] }),
      'The user answered: blue',
    )
  })

  it('show a long question and long choices completely before they ask', async () => {
    const { call } = await open()
    const question = `Why?\n${'a long reason '.repeat(20)}`
    assert.match(await call('ask_user', { question }), /didn't answer/)
    assert.deepEqual(questions, [`VS Code chat asks\n${question}`])
    answer = 'Answer'
    assert.equal(await call('ask_user', { question }), `The user answered: answer to ${question}`)
    const long = `${'blue '.repeat(30)}\u202e`
    await call('ask_user', { question: 'Which?', choices: ['red', long] })
    assert.equal(questions.at(-1), `VS Code chat asks\nWhich?\n\n1. red\n2. ${'blue '.repeat(30)}‹U+202E›`)
    const asked = questions.length
    const choices = Array.from({ length: 20 }, (_, at) => `${at}${'x'.repeat(490)}`)
    assert.match(await call('ask_user', { question: 'Which?', choices }), /too long to be shown/)
    assert.equal(questions.length, asked)
  })

  it('are for the folders that the window has now', async () => {
    answer = 'Allow'
    const other = toolWorkspace()
    try {
      const { call } = await open()
      const path = join(other.folder, 'main.ts')
      const rename = () => call('rename_symbol', { file: path, name: 'report', new_name: 'summary' })
      assert.match(await rename(), /outside of the folders/)
      folders = [...folders, { name: 'two', path: other.folder }]
      assert.match(await call('document_symbols', { file: path }), /report/)
      assert.match(await call('format', { file: path }), /Nothing to change/)
      folders = [{ name: 'two', path: other.folder }]
      assert.match(await call('document_symbols', { file: 'main.ts' }), /report/)
      assert.match(
        await call('document_symbols', { file: join(folder, 'main.ts') }),
        /outside of the folders/,
      )
      writeFileSync(join(other.folder, 'tabs.ts'), '\tconst one = 1\n')
      assert.match(await call('format', { file: 'tabs.ts' }), /Changed and saved 1 file/)
      assert.equal(readFileSync(join(other.folder, 'tabs.ts'), 'utf8'), '  const one = 1\n')
      folders = []
      assert.match(await call('document_symbols', { file: 'main.ts' }), /No folder is open|can't be a file/)
    } finally {
      other.remove()
    }
  })

  it('end a change in the folders in which it began', async () => {
    answer = 'Allow'
    const { call } = await open()
    const other = toolWorkspace()
    try {
      written = () => {
        folders = [{ name: 'two', path: other.folder }]
      }
      const rename = await call('rename_symbol', { name: 'totalArea', new_name: 'wholeArea' })
      assert.match(rename, /Changed and saved 2 files/)
      assert.match(readFileSync(join(folder, 'main.ts'), 'utf8'), /wholeArea/)
      assert.equal(questions.length, 1)
    } finally {
      other.remove()
    }
  })

  it('end when they are turned off, and when they are opened again', async () => {
    const first = await open()
    const second = await open()
    assert.notEqual(first.token, second.token)
    await assert.rejects(first.call('selection'))
    assert.match(await second.call('selection'), /./)
    isOn = false
    changed.fire()
    await assert.rejects(second.call('selection'))
    folders = []
    await assert.rejects(chat.open(), /Open a folder/)
  })
})
