/** The switch at the composer, and rules for one session. Also requests that look like edits, but do more. */
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileChange, PermissionRequest, ToolCallPatch } from '../../../../src/acp/model.ts'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import { SessionAllowance } from '../../../../src/sessions/permission-rules/session-allowance.ts'
import { command, OPTIONS, RulesHarness, request } from './harness.ts'

describe('what the user allows for a session', () => {
  let harness: RulesHarness
  before(() => {
    harness = new RulesHarness()
    const { root, directory } = harness
    symlinkSync('/etc', join(root, 'etc'))
    symlinkSync(join(directory, 'secret'), join(root, 'link.ts'))
    mkdirSync(join(root, '.git/hooks'), { recursive: true })
    mkdirSync(join(root, '.vscode'))
    symlinkSync('.vscode', join(root, 'settings'))
    writeFileSync(join(directory, 'secret'), '')
  })
  after(() => harness.dispose())

  interface Setup {
    allowed?: 'edits' | 'everything'
    rules?: object[]
    trusted?: boolean
    isOff?: boolean
    allowance?: SessionAllowance
  }

  const answer = async (
    asked: PermissionRequest,
    { allowed, rules = [], trusted = true, isOff = false, allowance = new SessionAllowance() }: Setup,
  ) => {
    if (allowed) allowance.allow(allowed)
    const tool = toolCallOf(createSessionState(), asked)
    const layers = { permissionRules: rules, acceptEverything: !isOff }
    const answers = harness
      .rules([], { trusted, settings: layers })
      .answersFor('one', harness.place, allowance)
    const given = await answers(asked, tool, new AbortController().signal)
    return given && 'rule' in given ? `${given.rule.accepts ?? given.rule.scope} ${given.optionId}` : 'ask'
  }
  const edit = (path: string, more: Partial<ToolCallPatch> = {}, options = OPTIONS) => ({
    ...request({
      kind: 'edit',
      title: 'Edit',
      content: [
        {
          type: 'diff',
          changes: [{ operation: 'modify', path: join(harness.root, path), oldText: 'a', newText: 'b' }],
        },
      ],
      ...more,
    }),
    options,
  })

  const changing = (change: FileChange) =>
    edit(change.path, { content: [{ type: 'diff', changes: [change] }] })

  it('accepts nothing at first', async () => {
    assert.equal(await answer(edit('src/a.ts'), {}), 'ask')
    assert.equal(new SessionAllowance().state, undefined)
  })

  it('accepts edits in the folders, once each', async () => {
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'edits' }), 'edits once')
    assert.equal(await answer(edit('src/new/b.ts'), { allowed: 'edits' }), 'edits once')
    assert.equal(
      await answer(
        edit('src/a.ts', { rawInput: { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' } }),
        {
          allowed: 'edits',
        },
      ),
      'edits once',
    )
    const always = OPTIONS.filter(({ kind }) => kind !== 'allow_once')
    assert.equal(await answer(edit('src/a.ts', {}, always), { allowed: 'edits' }), 'ask')
  })

  const hostile: Record<string, () => PermissionRequest> = {
    'a file outside': () => edit('../outside.ts'),
    'a link that leads out': () => edit('link.ts'),
    'a folder that leads out': () => edit('etc/passwd'),
    'a protected file': () => edit('.vscode/settings.json'),
    'a protected file behind a link': () => edit('settings/tasks.json'),
    'a hook': () => edit('.git/hooks/pre-commit'),
    'a second file outside': () => edit('src/a.ts', { locations: [{ path: '/etc/passwd' }] }),
    'a file outside in its input': () =>
      edit('src/a.ts', { rawInput: { file_path: '/etc/passwd', content: 'x' } }),
    'a home directory': () => edit('src/a.ts', { rawInput: { path: '~/.bashrc', content: 'x' } }),
    'a patch of a file outside': () =>
      edit('src/a.ts', { rawInput: '*** Begin Patch\n*** Update File: ../x\n@@\n-a\n+b\n*** End Patch' }),
    'a command': () => edit('src/a.ts', { rawInput: { command: 'rm -rf /' } }),
    'a command as words': () => edit('src/a.ts', { rawInput: { command: ['sh', '-c', 'x'] } }),
    'a harmless command': () => edit('src/a.ts', { rawInput: { command: 'ls' } }),
    'several commands': () => edit('src/a.ts', { rawInput: { commands: ['ls', 'rm x'] } }),
    'a deep command': () => edit('src/a.ts', { rawInput: { options: { command: 'ls' } } }),
    'a field that is not known': () => edit('src/a.ts', { rawInput: { next: 'ls' } }),
    'an environment': () => edit('src/a.ts', { rawInput: { env: { PATH: '/tmp' } } }),
    'a terminal': () => edit('src/a.ts', { content: [{ type: 'terminal', terminalId: 't' }] }),
    'a terminal beside an edit': () => {
      const asked = edit('src/a.ts')
      if (asked.subject.type === 'tool_call')
        asked.subject.toolCall.content = [
          ...(asked.subject.toolCall.content ?? []),
          { type: 'terminal', terminalId: 't' },
        ]
      return asked
    },
    'content that is not known': () =>
      edit('src/a.ts', { content: [{ type: 'unknown', kind: 'x', raw: {} }] }),
    'no sandbox': () => edit('src/a.ts', { rawInput: { sandbox: 'none' } }),
    'an edit that shows nothing': () =>
      edit('src/a.ts', { content: [], locations: [{ path: join(harness.root, 'src/a.ts') }] }),
    'an edit without a file': () => request({ kind: 'edit', title: 'Edit', rawInput: { content: 'x' } }),
    'a command that only it names': () => ({
      ...request({}),
      subject: { type: 'command', command: 'echo x > src/a.ts' },
    }),
    'a command with a redirection': () => command('echo x > src/a.ts'),
    'a read': () => edit('src/a.ts', { kind: 'read' }),
    'a change that deletes a file': () => changing({ operation: 'delete', path: 'src/a.ts', oldText: 'a' }),
    'an input that deletes a file': () => edit('src/a.ts', { rawInput: { delete: true } }),
    'an input with an operation that is no edit': () =>
      edit('src/a.ts', { rawInput: { operation: 'unlink' } }),
    'an edit with an operation that may be anything': () =>
      edit('src/a.ts', { content: [], rawInput: { path: 'src/a.ts', op: 'rm' } }),
    'changes of which one deletes a file': () =>
      edit('src/a.ts', { rawInput: { changes: { 'src/a.ts': { type: 'delete' } } } }),
    'a patch that deletes a file': () =>
      edit('src/a.ts', { rawInput: '*** Begin Patch\n*** Delete File: src/a.ts\n*** End Patch' }),
    'a diff that deletes a file': () =>
      edit('src/a.ts', { rawInput: { diff: '--- a/src/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n' } }),
    'a deletion': () => edit('src/a.ts', { kind: 'delete' }),
    'a call of another kind': () => edit('src/a.ts', { kind: 'other' }),
    'a subject that is not known': () => ({
      ...request({}),
      subject: { type: 'unknown', kind: 'edit', raw: { path: 'src/a.ts' } },
    }),
    'a choice': () =>
      edit('src/a.ts', {}, [
        { optionId: 'once', name: 'One', kind: 'allow_once' },
        { optionId: 'other', name: 'Other', kind: 'allow_once' },
      ]),
  }
  for (const [name, asked] of Object.entries(hostile))
    it(`asks about ${name} although edits are accepted`, async () => {
      assert.equal(await answer(asked(), { allowed: 'edits' }), 'ask')
    })

  it('accepts commands and everything else that rules may allow', async () => {
    const allowed = { allowed: 'everything' } as const
    assert.equal(await answer(edit('src/a.ts'), allowed), 'everything once')
    assert.equal(await answer(command('npm test && git status'), allowed), 'everything once')
    assert.equal(await answer(edit('src/a.ts', { kind: 'delete' }), allowed), 'everything once')
    assert.equal(
      await answer(request({ kind: 'fetch', title: 'Fetch', rawInput: { url: 'https://x.org' } }), allowed),
      'everything once',
    )
  })

  const never: Record<string, () => PermissionRequest> = {
    ...Object.fromEntries(
      [
        'a file outside',
        'a link that leads out',
        'a folder that leads out',
        'a protected file',
        'a protected file behind a link',
        'a hook',
        'a second file outside',
        'a home directory',
        'a field that is not known',
        'an environment',
        'content that is not known',
        'no sandbox',
        'a command with a redirection',
        'a choice',
        'a subject that is not known',
      ].map(name => [name, hostile[name]!]),
    ),
    'a command with a file outside': () => command('cat /etc/passwd'),
    'a command with a protected file': () => command('rm .vscode/settings.json'),
    'a command in a folder outside': () => command('npm test', { cwd: '/etc' }),
    'a command line that can be read in several ways': () => command('git commit -m "$(cat ~/.ssh/id)"'),
    'code in a command': () => command('node -e "x"'),
    'another user': () => command('sudo npm test'),
    // some agents send no input, and say what a tool of an MCP server gets in a text alone
    'a tool without its input': () =>
      request({
        kind: 'other',
        title: 'write_file (files MCP Server)',
        content: [{ type: 'content', content: { type: 'text', text: '{"path":"/etc/passwd"}' } }],
      }),
    'a page without its address': () => request({ kind: 'fetch', title: 'Fetch' }),
    'a tool of the editor that may read from now on': () => ({
      ...request({ kind: 'other', title: "Read your terminals' output for the rest of this session" }),
      editorTool: 'vscode.terminal_output',
    }),
    'a plan': () => request({ kind: 'think', title: 'Plan', rawInput: { plan: 'Do it' } }),
    'another mode': () => request({ kind: 'switch_mode', title: 'Leave plan mode' }),
  }
  for (const [name, asked] of Object.entries(never))
    it(`asks about ${name} although everything is accepted`, async () => {
      assert.equal(await answer(asked(), { allowed: 'everything' }), 'ask')
    })

  it('says why it asks', async () => {
    const allowance = new SessionAllowance()
    allowance.allow('edits')
    const asked = edit('../outside.ts')
    const tool = toolCallOf(createSessionState(), asked)
    const answers = harness.rules([]).answersFor('one', harness.place, allowance)
    assert.deepEqual(await answers(asked, tool, new AbortController().signal), {
      refusal: "The rule “Accept Edits” doesn't allow anything outside of the session's folders.",
    })
  })

  it('never overrides a rule of the settings that asks or rejects', async () => {
    const ask = [{ path: 'src/**', action: 'ask' }]
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'everything', rules: ask }), 'ask')
    const reject = [{ path: 'src/**', action: 'reject' }]
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'everything', rules: reject }), 'user no')
    const allow = [{ path: 'src/**', action: 'allow' }]
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'everything', rules: allow }), 'user once')
  })

  it('accepts nothing in an untrusted workspace, nor everything if the setting takes that away', async () => {
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'edits', trusted: false }), 'ask')
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'everything', isOff: true }), 'ask')
    assert.equal(await answer(edit('src/a.ts'), { allowed: 'edits', isOff: true }), 'edits once')
    assert.deepEqual(harness.rules([]).allowances(), ['edits', 'everything'])
    assert.deepEqual(harness.rules([], { trusted: false }).allowances(), [])
    assert.deepEqual(harness.rules([], { settings: { acceptEverything: false } }).allowances(), ['edits'])
  })

  it('does not answer when it is turned off while a request is checked', async () => {
    const allowance = new SessionAllowance()
    allowance.allow('edits')
    const asked = edit('src/a.ts')
    const answers = harness.rules([]).answersFor('one', harness.place, allowance)
    const given = answers(asked, toolCallOf(createSessionState(), asked), new AbortController().signal)
    allowance.allow('ask')
    assert.equal(await given, undefined)
  })

  it('has rules of its own, which end with it', async () => {
    const allowance = new SessionAllowance()
    allowance.add({ command: 'git log *', action: 'allow' })
    assert.equal(await answer(command('git log -3'), { allowance }), 'session once')
    assert.equal(await answer(command('git log -3'), {}), 'ask')
    assert.equal(await answer(command('git log && rm -rf ..'), { allowance }), 'ask')
    const [rule] = allowance.rules
    allowance.replace(rule!, { command: 'git log *', action: 'reject' })
    assert.equal(await answer(command('git log -3'), { allowance, allowed: 'everything' }), 'session no')
    allowance.replace(rule!, undefined)
    assert.equal(allowance.rules.length, 2, 'it was replaced')
    for (const one of [...allowance.rules]) allowance.replace(one, undefined)
    assert.deepEqual([allowance.allowed, allowance.rules.length, allowance.state], ['ask', 0, undefined])
  })

  it('goes on in the next window with what can be read', () => {
    const allowance = new SessionAllowance()
    allowance.allow('everything')
    allowance.add({ command: 'git log *', action: 'allow' })
    const next = new SessionAllowance()
    next.restore(JSON.parse(JSON.stringify(allowance.state)))
    assert.deepEqual(next.state, allowance.state)
    assert.deepEqual(
      next.rules.map(({ text, scope }) => `${scope} ${text}`),
      ['session git log *', 'session Accept Everything'],
    )
    for (const kept of [
      undefined,
      null,
      'everything',
      [],
      { allowed: 'all' },
      { rules: [{ action: 'allow' }] },
    ]) {
      const other = new SessionAllowance()
      other.restore(kept)
      assert.equal(other.state, undefined, JSON.stringify(kept))
    }
  })
})
