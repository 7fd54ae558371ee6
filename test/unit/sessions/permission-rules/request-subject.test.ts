/** A rule for a kind of tool call allows only calls whose input Parley understands. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import { commandOf } from '../../../../src/conversation/tool-command.ts'
import { command, RulesHarness, request } from './harness.ts'

describe('the input of a tool call that a rule allows', () => {
  let harness: RulesHarness
  before(() => {
    harness = new RulesHarness()
    mkdirSync(join(harness.root, 'docs'))
  })
  after(() => harness.dispose())

  const KINDS = ['read', 'search', 'edit', 'delete', 'fetch', 'think', 'other']
  const answer = (kind: string, rawInput: unknown) =>
    harness.answer(
      [{ kind, action: 'allow' }],
      request({ kind, title: 'x', locations: [{ path: 'src/a.ts' }], rawInput }),
    )

  it('has no field that could contain something else', async () => {
    for (const rawInput of [
      { uri: 'file:///etc/passwd' },
      { uri: 'file:/etc/passwd' },
      { uri: '/etc/passwd' },
      { Uri: 'ssh://x/y' },
      { include: '/etc/**' },
      { include: ['*.ts', '../../**'] },
      { include: '{a,/etc/x}' },
      { glob: '~/.ssh/*' },
      { pattern: '/etc/*' },
      { tool_input: { file_path: '/etc/passwd' } },
      { tool_input: { anything: 'x' } },
      { toolInput: 'x' },
      { CommandLine: 'rm -rf x' },
      { Command_Line: 'rm' },
      { bash_command: 'rm' },
      { changes: { '/etc/passwd': { type: 'delete' } } },
      { changes: { 'src/b.ts': { type: 'update', move_path: '/etc/x' } } },
      { changes: [{ path: '/etc/passwd' }] },
      { patchText: '*** Begin Patch\n*** Delete File: /etc/passwd\n' },
      { patchText: '*** Begin Patch\n***  Update File:/etc/passwd\n' },
      { patch: '*** Begin Patch\n*** Create File: /etc/x\n+x\n' },
      { patch: 'diff --git a/../../x b/../../x\ndeleted file mode 100644\n' },
      { patch: 'diff --git a/src/a b.ts b/src/a b.ts\nnew file mode 100644\n' },
      { patch: '--- a/src/a.ts\n+++ "b/\\056\\056/x"\n@@ -1 +1 @@\n' },
      { glob: '$HOME/*' },
      { glob: '%USERPROFILE%/*' },
      { unified_diff: '--- a/x\n+++ /etc/passwd\n' },
      { UnifiedDiff: 'Index: ../../x\n' },
      { whatever: 'x' },
      { whatever: ['x'] },
      { whatever: { deep: { er: 'x' } } },
      { whatever: [[['x']]] },
      { env: { PATH: 'src' } },
      { processEnv: { PATH: 'src' } },
      { extra_env: ['A=b'] },
      { Environment: 'A=b' },
      { TargetFile: '/etc/x' },
      { target_uri: '/etc/x' },
      { file: 'ftp://x/y' },
      { type: 'x y' },
      { type: '../x' },
      { shell: './evil' },
      { prompt: 'ls', url: 'file:///etc/passwd' },
      'rm -rf x',
      ['rm'],
    ]) {
      for (const kind of KINDS)
        assert.equal(await answer(kind, rawInput), 'ask', `${kind} ${JSON.stringify(rawInput)}`)
    }
    for (const kind of ['read', 'search']) {
      for (const rawInput of [
        { content: 'x' },
        { new_string: 'x' },
        { changes: { 'src/a.ts': 'x' } },
        { patchText: '*** Begin Patch\n*** Update File: src/a.ts\n' },
        { url: 'https://example.com' },
        { prompt: 'x' },
      ])
        assert.equal(await answer(kind, rawInput), 'ask', `${kind} ${JSON.stringify(rawInput)}`)
    }
  })

  it('names no file of a patch in upper or lower case only', async () => {
    for (const header of [
      '*** update file: /etc/passwd',
      '*** UPDATE FILE: /etc/passwd',
      '*** Delete file: /etc/passwd',
      '*** Update File: src/a.ts\n*** move to: /etc/x',
    ]) {
      const patchText = `*** Begin Patch\n${header}\n@@\n-a\n+b\n*** End Patch`
      assert.equal(await answer('edit', { patchText }), 'ask', header)
    }
  })

  it('has no white space around the name of a file, which may not belong to it', async () => {
    for (const patch of [
      '*** Begin Patch\n*** Update File:  /etc/passwd\n',
      '*** Begin Patch\n*** Update File: \t/etc/passwd\n',
      '*** Begin Patch\n*** Update File: src/a.ts\n*** Move to:  /etc/x\n',
      '--- a/src/a.ts\n+++  /etc/passwd\n',
      '--- a/src/a.ts\n+++ \t/etc/passwd\n',
      '---  /etc/passwd\n+++ b/src/a.ts\n',
      'rename from src/a.ts\nrename to  /etc/x\n',
      'Index:  /etc/passwd\n',
      'Index:\t/etc/passwd\n',
      'Index:/etc/passwd\n',
    ])
      assert.equal(await answer('edit', { patch }), 'ask', JSON.stringify(patch))
    assert.equal(await answer('edit', { path: ' /etc/passwd' }), 'ask')
  })

  it('is no context diff, whose files are not read', async () => {
    for (const header of [
      '*** /etc/passwd',
      '***  /etc/passwd',
      '*** \t/etc/passwd',
      '*** ../x\t2026-01-01',
    ]) {
      const patch = `${header}\n--- a/src/a.ts\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n`
      assert.equal(await answer('edit', { patch }), 'ask', JSON.stringify(header))
      assert.equal(await answer('edit', { patch: `${header}\n--- a/src/a.ts\n` }), 'ask', header)
    }
  })

  it('may have the fields that agents are known to send', async () => {
    const inProject = join(harness.root, 'src/a.ts')
    for (const [kind, rawInput] of [
      ['read', { file_path: inProject, offset: 1, limit: 20 }],
      ['read', { target_file: 'src/a.ts', variant: 'Read', explanation: 'Look at it' }],
      ['read', { AbsolutePath: inProject, StartLine: 1 }],
      ['read', { path: 'src/a.ts', view_range: [1, 20] }],
      ['read', { uri: `file://${inProject}` }],
      ['read', { paths: ['src/a.ts'], include: ['*.ts'], recursive: true, description: 'x' }],
      ['read', { tool_input: { file_path: 'src/a.ts' }, callId: 'call_1:2' }],
      [
        'search',
        { pattern: 'a.*b', path: 'src', glob: '**/*.ts', output_mode: 'content', '-n': true, '-A': 3 },
      ],
      ['search', { query: 'how does it work' }],
      ['edit', { file_path: inProject, old_string: '/etc', new_string: '../x', replace_all: false }],
      ['edit', { filePath: 'src/a.ts', content: 'x', description: 'y' }],
      ['edit', { path: 'src/a.ts', edits: [{ oldText: 'a', newText: 'b' }] }],
      ['edit', { filepath: 'src/a.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }],
      [
        'edit',
        {
          call_id: 'c',
          turn_id: '1',
          changes: { [inProject]: { type: 'add', content: 'x' } },
          reason: null,
          grant_root: null,
        },
      ],
      ['edit', { patchText: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch' }],
      [
        'edit',
        { patch: 'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-a\n+b\n' },
      ],
      [
        'edit',
        {
          patchText:
            '*** Begin Patch\r\n*** Update File: src/a.ts\r\n*** Move to: src/b.ts\r\n@@\r\n-a\r\n+*** b\r\n *** c\r\n*** End of File\r\n*** End Patch\r\n',
        },
      ],
      ['fetch', { url: 'https://example.com/x?y', prompt: 'What is it?', format: 'markdown' }],
      ['think', { todos: [{ id: '1', content: 'Do it', status: 'pending' }], merge: true }],
      ['read', undefined],
      ['read', {}],
    ] as const) {
      const asked = request({
        kind,
        title: 'x',
        locations: [{ path: 'src/a.ts' }],
        ...(rawInput && { rawInput }),
      })
      const rules = [{ kind: kind === 'edit' ? ['edit', 'read'] : kind, action: 'allow' }]
      assert.equal(await harness.answer(rules, asked), 'allow once', JSON.stringify(rawInput))
    }
  })

  it('is checked in every field with any name', async () => {
    const word = fc.constantFrom(
      'uri',
      'tool',
      'input',
      'Include',
      'command',
      'Line',
      'patch',
      'text',
      'foo',
      'cwd',
      'env',
      '_',
      '-',
      'X',
    )
    const key = fc.array(word, { minLength: 1, maxLength: 4 }).map(words => words.join(''))
    const value = fc.constantFrom('/etc/passwd', '../../x', '~/.ssh/id', 'ssh://a/b', 'file:///etc/passwd')
    const nested = fc.tuple(key, value, fc.nat(3)).map(([name, text, depth]) => {
      let field: unknown = { [name]: text }
      for (let i = 0; i < depth; i++) field = i % 2 ? { a: field } : { b: [field] }
      return field
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('read', 'search'), nested, async (kind, rawInput) => {
        assert.equal(await answer(kind, rawInput), 'ask', JSON.stringify(rawInput))
      }),
    )
  })

  it('never asks to leave the sandbox', async () => {
    for (const more of [
      { dangerouslyDisableSandbox: true },
      { dangerously_disable_sandbox: 'true' },
      { sandbox_permissions: 'require_escalated' },
      { sandboxPermissions: ['network'] },
      { with_escalated_permissions: true },
      { sandbox: false },
      { sandbox: 'danger-full-access' },
      { bypassSandbox: 1 },
      { additional_permissions: { network: true } },
      { arguments: { dangerouslyDisableSandbox: true } },
    ]) {
      const exact = [{ command: 'npm test', action: 'allow' }]
      assert.equal(await harness.answer(exact, command('npm test', more)), 'ask', JSON.stringify(more))
      assert.deepEqual(await harness.offers(command('npm test', more)), [], JSON.stringify(more))
      assert.equal(await answer('read', { path: 'src/a.ts', ...more }), 'ask', JSON.stringify(more))
      const rejects = [{ command: 'npm test', action: 'reject' }]
      assert.equal(await harness.answer(rejects, command('npm test', more)), 'reject no')
    }
    for (const more of [
      { dangerouslyDisableSandbox: false },
      { sandbox_permissions: 'use_default' },
      { with_escalated_permissions: null },
      { sandbox: true },
    ])
      assert.equal(
        await harness.answer([{ command: 'npm test', action: 'allow' }], command('npm test', more)),
        'allow once',
        JSON.stringify(more),
      )
  })

  it('of a command has its folder and variables in any spelling, which are checked and shown', async () => {
    const npm = [{ command: 'npm test', action: 'allow' }]
    const shown = (more: Record<string, unknown>) =>
      commandOf(toolCallOf(createSessionState(), command('npm test', more))!)
    for (const key of [
      'cwd',
      'Cwd',
      'working-directory',
      'WorkingDir',
      'work_dir',
      'directoryPath',
      'currentDirectory',
      'chdir',
    ]) {
      assert.equal(await harness.answer(npm, command('npm test', { [key]: '/etc' })), 'ask', key)
      assert.equal(await harness.answer(npm, command('npm test', { [key]: harness.root })), 'allow once', key)
      assert.equal(shown({ [key]: '/etc' })?.cwd, '/etc', key)
    }
    for (const key of [
      'env',
      'ENV',
      'processEnv',
      'env_vars',
      'environment-variables',
      'EnvironmentOverrides',
      'extraEnv',
    ]) {
      assert.equal(await harness.answer(npm, command('npm test', { [key]: { A: 'b' } })), 'ask', key)
      assert.deepEqual(shown({ [key]: { A: 'b' } })?.environment, ['A=b'], key)
    }
    for (const rawInput of [
      { CommandLine: 'npm test', Cwd: '/etc' },
      { Command: 'npm', Args: ['test', 'x'] },
    ]) {
      assert.equal(await harness.answer(npm, request({ kind: 'execute', title: 'x', rawInput })), 'ask')
    }
    const other = request({ kind: 'execute', title: 'x', rawInput: { CommandLine: 'npm test' } })
    assert.equal(await harness.answer(npm, other), 'allow once')
    for (const more of [
      { afterward: 'rm x' },
      { stdinData: 'x' },
      { file: '/etc/x' },
      { shell: './sh' },
      { preCommand: 'x' },
    ])
      assert.equal(await harness.answer(npm, command('npm test', more)), 'ask', JSON.stringify(more))
    for (const more of [
      { description: 'Run tests', timeout: 5000, run_in_background: false },
      {
        call_id: 'c',
        parsed_cmd: [{ type: 'test', cmd: 'npm test' }],
        reason: null,
        available_decisions: ['approved'],
      },
      { is_background: false, variant: 'Bash', riskLevel: 'low', riskLevelReason: 'Only tests' },
      { login: true, shell: 'bash', justification: 'x', prefix_rule: ['npm', 'test'] },
    ])
      assert.equal(await harness.answer(npm, command('npm test', more)), 'allow once', JSON.stringify(more))
  })
})
