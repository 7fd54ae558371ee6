import assert from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import type { PermissionOption, PermissionRequest } from '../../../../src/acp/model.ts'
import type { SettingLayer } from '../../../../src/agents/setting-layers.ts'
import { EDITOR_TOOL_NAMES } from '../../../../src/common/editor-tool-names.ts'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import { diskLinks } from '../../../../src/editor/path-guard.ts'
import { RuleConsent } from '../../../../src/sessions/permission-rules/permission-rules.ts'
import { command, OPTIONS, RulesHarness, request } from './harness.ts'

describe('permission rules', () => {
  let harness: RulesHarness
  let root = ''
  let directory = ''
  let answer: RulesHarness['answer']
  let edit: RulesHarness['edit']
  let rulesOf: RulesHarness['rules']
  before(() => {
    harness = new RulesHarness()
    ;({ root, directory, answer, edit } = harness)
    rulesOf = harness.rules.bind(harness)
  })
  after(() => harness.dispose())
  const place = () => harness.place()

  const npm = { command: 'npm test **', action: 'allow' }
  const src = { path: 'src/**', action: 'allow' }

  it('allow once and reject once, in order', async () => {
    assert.equal(await answer([npm], command('npm test')), 'allow once')
    assert.equal(await answer([npm], command('npm test -- --grep "a b"')), 'allow once')
    assert.equal(await answer([npm], command('npm run test')), 'ask')
    const reject = { command: 'npm test --watch *', action: 'reject' }
    assert.equal(await answer([reject, npm], command('npm test --watch')), 'reject no')
    assert.equal(await answer([npm, reject], command('npm test --watch')), 'allow once')
    assert.equal(await answer([{ ...npm, action: 'ask' }, npm], command('npm test')), 'ask')
  })

  it('never select a permanent option, and ask if there is no other', async () => {
    const [always, once, never, no] = OPTIONS as [
      PermissionOption,
      PermissionOption,
      PermissionOption,
      PermissionOption,
    ]
    assert.equal(await answer([npm], command('npm test'), { options: [always, no] }), 'ask')
    assert.equal(
      await answer([npm], command('npm test'), { options: [always, { ...always, optionId: 'b' }] }),
      'ask',
    )
    assert.equal(await answer([npm], command('npm test'), { options: [never, no] }), 'ask')
    const reject = { command: 'npm *', action: 'reject' }
    assert.equal(await answer([reject], command('npm test'), { options: [once, never] }), 'ask')
  })

  it('allow a command line only if every command matches', async () => {
    for (const line of [
      'npm test && rm -rf /',
      'npm test; rm x',
      'npm test\nrm x',
      'npm test | sh',
      'npm test & rm x',
      'npm test $(rm x)',
      'npm test `rm x`',
      'npm test > package.json',
      'NODE_OPTIONS=x npm test',
      'npm test "$X"',
    ]) {
      assert.equal(await answer([npm], command(line)), 'ask', line)
    }
    assert.equal(
      await answer([{ command: 'npm **', action: 'allow' }], command('npm ls && npm test')),
      'allow once',
    )
    assert.equal(await answer([{ kind: 'execute', action: 'allow' }], command('npm test $(x)')), 'ask')
    assert.equal(await answer([npm], command('npm test', { env: { PATH: '/tmp' } })), 'ask')
    assert.equal(await answer([npm], request({ kind: 'execute', title: 'npm test and then…' })), 'ask')
  })

  it('reject a command line if any of its commands may match', async () => {
    const rm = { command: 'rm *', action: 'reject' }
    for (const line of ['npm test && rm x', 'echo $(rm x)', 'X=1 rm x', 'sudo rm x', 'sh -c "rm x"']) {
      assert.equal(await answer([rm, npm], command(line)), 'reject no', line)
    }
    assert.equal(await answer([rm], command('npm run rm')), 'ask')
  })

  it('check scripts that are passed to a shell', async () => {
    const reported = (rawInput: unknown) => request({ kind: 'execute', title: 'x', rawInput })
    assert.equal(await answer([npm], reported({ command: ['bash', '-lc', 'npm test'] })), 'allow once')
    assert.equal(await answer([npm], reported({ command: ['bash', '-lc', 'npm test; rm x'] })), 'ask')
    const tool = { command: 'mytool test **', action: 'allow' }
    assert.equal(
      await answer([tool], reported({ command: 'mytool', args: ['test', '; rm x'] })),
      'allow once',
    )
    for (const shell of ['/bin/sh', '/usr/bin/bash', '/usr/local/bin/zsh', '/opt/homebrew/bin/bash'])
      assert.equal(await answer([npm], reported({ command: [shell, '-c', 'npm test'] })), 'allow once', shell)
    for (const shell of ['./bash', 'src/bin/sh', '/tmp/bin/bash', 'rm x; /bin/sh', 'rm /bin/sh']) {
      assert.equal(await answer([npm], reported({ command: [shell, '-c', 'npm test'] })), 'ask', shell)
      const apart = { command: shell, args: ['-c', 'npm test'] }
      assert.equal(await answer([npm], reported(apart)), 'ask', shell)
    }
  })

  it('allow no files and commands of another machine, whose paths may be spelled as paths here', async () => {
    const everything = { kind: ['edit', 'execute', 'read', 'search', 'fetch'], action: 'allow' }
    const asked = [
      edit('src/a.ts'),
      command('npm test'),
      request({ kind: 'read', title: 'Read', rawInput: { path: 'src/a.ts' } }),
      request({ kind: 'search', title: 'Search', rawInput: { pattern: 'x' } }),
    ]
    const fetch = request({ kind: 'fetch', title: 'Fetch', rawInput: { url: 'https://example.com/' } })
    const reject = { kind: 'edit', path: 'src/**', action: 'reject' }
    for (const one of asked) assert.equal(await answer([everything, npm], one), 'allow once')
    harness.isRemote = true
    try {
      for (const one of asked) {
        assert.equal(await answer([everything, npm], one), 'ask')
        assert.deepEqual(await harness.offers(one), [])
        assert.match((await harness.refusal([everything], one)) ?? '', /works on another machine/)
      }
      assert.equal(await answer([everything], fetch), 'allow once')
      assert.equal(await answer([reject], edit('src/a.ts')), 'reject no')
    } finally {
      harness.isRemote = false
    }
  })

  it('allow what is in folders that an agent has at other paths, and nothing else of its machine', async () => {
    const everything = { kind: ['edit', 'execute', 'read', 'search'], action: 'allow' }
    const any = { command: '*', action: 'allow' }
    const changes = (path: string) => request({ kind: 'edit', title: 'Edit', locations: [{ path }] })
    harness.pathMappings = [{ localRoot: harness.root, remoteRoot: '/srv/app' }]
    try {
      for (const one of [
        edit('src/a.ts'),
        changes(`${harness.root}/src/a.ts`),
        command('npm test'),
        request({ kind: 'read', title: 'Read', rawInput: { path: 'src/a.ts' } }),
      ])
        assert.equal(await answer([everything, npm], one), 'allow once')
      for (const one of [
        changes(`/elsewhere:${harness.root}/src/a.ts`),
        // the session's folder too, but not that of the agent
        changes(`${directory}/other/x`),
        request({ kind: 'search', title: 'Search', rawInput: { path: `${directory}/other`, pattern: 'x' } }),
        // command lines and patches aren't translated
        command(`cat ${harness.root}/src/a.ts`),
        command('cat --file=/srv/app/src/a.ts'),
        command('npm test', { cwd: `${directory}/other` }),
        request({
          ...{ kind: 'edit', title: 'Patch' },
          rawInput: {
            patch: `*** Begin Patch\n*** Update File: ${harness.root}/src/a.ts\n@@\n-a\n+b\n*** End Patch`,
          },
        }),
      ])
        assert.equal(await answer([everything, any], one), 'ask', JSON.stringify(one))
    } finally {
      harness.pathMappings = undefined
    }
  })

  it("never allow anything outside of the session's folders", async () => {
    const cat = { command: 'cat *', action: 'allow' }
    assert.equal(await answer([cat], command('cat src/a.ts')), 'allow once')
    assert.equal(await answer([cat], command(`cat ${directory}/other/x`)), 'allow once')
    for (const line of [
      'cat /etc/passwd',
      'cat ../x',
      'cat src/out/x',
      'cat ~/x',
      'cat --file=/etc/x',
      'cat .*',
    ]) {
      assert.equal(await answer([cat], command(line)), 'ask', line)
    }
    assert.equal(await answer([cat], command('cat x', { cwd: '/etc' })), 'ask')
    const any = { command: '*', action: 'allow' }
    assert.equal(await answer([any], command('cd src && cat out/x')), 'ask')
    assert.equal(await answer([any], command('cd .. && cat x')), 'ask')
    assert.equal(await answer([any], command('cd && cat x')), 'ask')
    assert.equal(await answer([any], command('cd src && cat a.ts')), 'allow once')
    assert.equal(await answer([src], edit('../x.ts')), 'ask')
    assert.equal(await answer([{ path: '**', action: 'reject' }], edit('../x.ts')), 'ask')
    assert.equal(await answer([{ kind: 'edit', action: 'reject' }], edit('../x.ts')), 'reject no')
    assert.equal(await answer([{ kind: 'edit', action: 'allow' }], edit('src/out/x')), 'ask')
  })

  it('match paths by their real location, and allow only if all of them match', async () => {
    assert.equal(await answer([src], edit('src/a.ts')), 'allow once')
    assert.equal(await answer([src], edit('src/../src/new/deep.ts')), 'allow once')
    assert.equal(await answer([src], edit('src/a.ts', 'b.ts')), 'ask')
    assert.equal(await answer([src], edit('src/../b.ts')), 'ask')
    assert.equal(await answer([{ ...src, action: 'reject' }], edit('b.ts', 'src/a.ts')), 'reject no')
    const moved = request({ kind: 'move', rawInput: { source: 'src/a.ts', destination: 'b.ts' } })
    assert.equal(await answer([src], moved), 'ask')
    const diff = request({
      kind: 'edit',
      locations: [{ path: join(root, 'src/a.ts') }],
      content: [{ type: 'diff', changes: [{ operation: 'modify', path: 'b.ts', newText: '' }] }],
    })
    assert.equal(await answer([src], diff), 'ask')
    const renamed = (oldPath: string) =>
      request({
        kind: 'edit',
        content: [{ type: 'diff', changes: [{ operation: 'move', path: 'src/b.ts', oldPath, newText: '' }] }],
      })
    assert.equal(await answer([src], renamed('src/a.ts')), 'allow once')
    assert.equal(await answer([src], renamed('b.ts')), 'ask')
  })

  it('match no path if no file is known, and no command by a path', async () => {
    assert.equal(await answer([src], edit()), 'ask')
    assert.equal(await answer([{ kind: 'edit', action: 'allow' }], edit()), 'ask')
    const run = request({
      kind: 'execute',
      rawInput: { command: 'rm x' },
      locations: [{ path: join(root, 'src') }],
    })
    assert.equal(await answer([src], run), 'ask')
  })

  it('never allow changes to files that could allow more', async () => {
    const all = { kind: ['edit', 'read'], action: 'allow' }
    for (const path of [
      '.vscode/settings.json',
      'a.code-workspace',
      '.git/hooks/pre-commit',
      'sub/.git/config',
    ]) {
      assert.equal(await answer([all], edit(path)), 'ask', path)
    }
    const read = request({ kind: 'read', locations: [{ path: join(root, '.vscode/settings.json') }] })
    assert.equal(await answer([all], read), 'allow once')
  })

  it('apply only to the agent they name', async () => {
    assert.equal(
      await answer([{ agent: 'one', kind: 'fetch', action: 'allow' }], request({ kind: 'fetch' })),
      'allow once',
    )
    assert.equal(
      await answer([{ agent: 'two', kind: 'fetch', action: 'allow' }], request({ kind: 'fetch' })),
      'ask',
    )
    assert.equal(await answer([{ agent: 'one', action: 'allow' }], edit('x')), 'allow once')
  })

  it('for an agent also apply to its accounts', async () => {
    const fetch = (rules: unknown[], agentId: string) =>
      answer(rules, request({ kind: 'fetch' }), { agentId, accountOf: { work: 'one' } })
    const ofOne = { agent: 'one', kind: 'fetch', action: 'reject' }
    assert.equal(await fetch([ofOne], 'work'), 'reject no')
    assert.equal(await fetch([ofOne], 'other'), 'ask')
    assert.equal(await fetch([{ ...ofOne, agent: 'work', action: 'allow' }, ofOne], 'work'), 'allow once')
    assert.equal(await fetch([{ ...ofOne, agent: 'work' }], 'one'), 'ask')
  })

  it("don't apply in Restricted Mode, nor to unknown kinds of requests", async () => {
    assert.equal(await answer([npm], command('npm test'), { trusted: false }), 'ask')
    const all = { agent: 'one', action: 'allow' }
    const base = { sessionId: 's', title: '', options: OPTIONS }
    assert.equal(await answer([all], { ...base, subject: { type: 'none' } }), 'ask')
    assert.equal(await answer([all], { ...base, subject: { type: 'unknown', kind: 'x', raw: {} } }), 'ask')
  })

  it('match the command in a request without a tool call', async () => {
    const named = (line: string): PermissionRequest => ({
      sessionId: 's',
      title: '',
      options: OPTIONS,
      subject: { type: 'command', command: line, cwd: root },
    })
    assert.equal(await answer([npm], named('npm test')), 'allow once')
    assert.equal(await answer([npm], named('npm test && x')), 'ask')
  })

  it('say once that a rule allows nothing, and each time why it does not allow one command', async () => {
    const rules = harness.rules([
      { command: 'npm test *', action: 'allow' },
      { command: 'git log *', action: 'allow' },
    ])
    const answers = rules.answersFor('one', harness.place)
    const refusal = async (line: string) => {
      const asked = command(line)
      const tool = toolCallOf(createSessionState(), asked)
      const given = await answers(asked, tool, new AbortController().signal)
      return given && 'refusal' in given ? given.refusal : undefined
    }
    assert.match((await refusal('npm test')) ?? '', /Write “npm test \*\*”/)
    assert.equal(await refusal('npm test'), undefined)
    for (let i = 0; i < 2; i++) assert.match((await refusal('git log --output=x')) ?? '', /--output=x/)
  })

  it("say why they don't allow a request that they match", async () => {
    const log = [{ command: 'git log *', action: 'allow' }]
    const files = [{ kind: ['edit', 'read'], action: 'allow' }]
    const why = harness.refusal
    assert.equal(
      await why(log, command('git log --output=x')),
      "The rule “git log *” doesn't allow “--output=x”, which could read, change or run something else.",
    )
    assert.match(String(await why(log, command('git log > x'))), /can't be analyzed reliably/)
    assert.match(String(await why(log, command('git log ../..'))), /outside of the session's folders/)
    assert.match(String(await why(log, command('git log .vscode/x'))), /protected files/)
    assert.match(String(await why(log, command('git log', { env: { A: 'b' } }))), /all of its fields/)
    assert.match(String(await why(log, command('git log', { dangerouslyDisableSandbox: true }))), /sandbox/)
    assert.match(String(await why([npm], command('npm test', { cwd: 'src' }))), /scripts in a subfolder/)
    assert.match(String(await why(files, edit('.vscode/settings.json'))), /“edit, read” .*protected files/)
    const odd = request({ kind: 'read', locations: [{ path: 'src/a.ts' }], rawInput: { odd: 'x' } })
    assert.match(String(await why(files, odd)), /all of its fields/)
    const old = [{ command: 'npm test *', action: 'allow' }]
    for (const line of ['npm test', 'npm test -- --bail'])
      assert.equal(
        await why(old, command(line)),
        "The rule “npm test *” allows nothing: Parley doesn't know which arguments of npm do no harm. Write “npm test **” to allow anything npm can do, or the whole command.",
      )
    assert.match(
      String(await why([{ command: '*', action: 'allow' }], command('make x'))),
      /doesn't allow “make”/,
    )
    for (const [rules, asked] of [
      [log, command('git status')],
      [log, command('git log')],
      [log, command('git log && rm x')],
      [log, edit('src/a.ts')],
      [[{ agent: 'two', command: 'git log *', action: 'allow' }], command('git log --output=x')],
      [[{ command: 'git *', action: 'ask' }, ...log], command('git log --output=x')],
      [[{ path: 'docs/**', action: 'allow' }], edit('src/a.ts')],
    ] as const)
      assert.equal(await why([...rules], asked), undefined, JSON.stringify(rules))
  })

  it("ask if the disk doesn't respond or fails", async () => {
    const hangs = { ...diskLinks, realpath: () => new Promise<string>(() => {}) }
    assert.equal(await answer([src], edit('src/a.ts'), { links: hangs, lookMs: 20 }), 'ask')
    const fails = {
      ...diskLinks,
      realpath: () => Promise.reject(Object.assign(new Error('x'), { code: 'EIO' })),
    }
    assert.equal(await answer([src], edit('src/a.ts'), { links: fails }), 'ask')
  })

  it("of a workspace come before the user's", async () => {
    const layers: SettingLayer[] = [
      { scope: 'user', value: [npm] },
      { scope: 'workspace', value: [{ ...npm, action: 'reject' }] },
    ]
    assert.equal(await answer([], command('npm test'), { layers }), 'reject no')
  })

  it('of a workspace allow only after the user agreed, but reject immediately', async () => {
    const kept = new Map<string, unknown>()
    const asked: string[][] = []
    let agree = () => {}
    const consent = new RuleConsent(
      { get: <T>(key: string) => kept.get(key) as T, set: (key, value) => kept.set(key, value) },
      (waiting, accept) => {
        asked.push(waiting.map(({ text }) => text))
        agree = accept
      },
    )
    const layers: SettingLayer[] = [
      {
        scope: 'workspace',
        value: [
          { command: 'npm publish', action: 'reject' },
          npm,
          { agent: 'one', kind: 'fetch', action: 'allow' },
        ],
      },
    ]
    assert.equal(await answer([], command('npm test'), { layers, consent }), 'ask')
    assert.equal(await answer([], command('npm publish'), { layers, consent }), 'reject no')
    assert.deepEqual(asked, [['npm test **', 'fetch']])
    agree()
    assert.equal(await answer([], command('npm test'), { layers, consent }), 'allow once')
    assert.equal(await answer([npm], edit('x'), { consent }), 'ask')
    const more: SettingLayer[] = [
      {
        scope: 'workspace',
        value: [
          { action: 'allow', command: 'npm test **' },
          { kind: 'execute', action: 'allow' },
        ],
      },
    ]
    assert.equal(await answer([], command('npm test'), { layers: more, consent }), 'allow once')
    assert.equal(await answer([], command('make'), { layers: more, consent }), 'ask')
    assert.deepEqual(asked.at(-1), ['execute'])
    assert.equal(
      await answer([{ kind: 'execute', action: 'allow' }], command('make'), { consent }),
      'allow once',
    )
  })

  it('of a workspace stay allowed, of very many the latest', () => {
    const kept = new Map<string, unknown>()
    const consent = new RuleConsent(
      { get: <T>(key: string) => kept.get(key) as T, set: (key, value) => kept.set(key, value) },
      () => {},
    )
    const value = Array.from({ length: 501 }, (_, i) => ({ command: `npm test ${i}`, action: 'allow' }))
    const all = rulesOf([], { layers: [{ scope: 'workspace', value }] }).list()
    consent.accept(all.map(({ source }) => source))
    assert.deepEqual(
      all.filter(rule => !consent.counts(rule)),
      all.slice(0, 1),
    )
  })

  it('that are suggested would have answered the request', async () => {
    const asked = [
      command('npm test'),
      command('npm run build -- --out "a b"'),
      command('git status'),
      command("echo 'it''s * here'"),
      command('npm ci && npm ci'),
      edit('src/a.ts'),
      edit('src/a.ts', 'src/deep/b.ts'),
      edit('we[i]rd (x)/{a}.ts'),
      request({ kind: 'read', locations: [{ path: root }] }),
      request({ kind: 'fetch' }),
    ]
    for (const one of asked) {
      const rules = rulesOf([])
      const offers = await rules.suggest('one', place(), one, toolCallOf(createSessionState(), one))
      assert.ok(offers.length > 0, JSON.stringify(one))
      for (const { rule, text } of offers) assert.equal(await answer([rule], one), 'allow once', text)
    }
    const texts = async (one: PermissionRequest) =>
      (await rulesOf([]).suggest('one', place(), one, toolCallOf(createSessionState(), one))).map(
        ({ text }) => text,
      )
    assert.deepEqual(await texts(command('npm test')), ['npm test', 'npm test **'])
    assert.deepEqual(await texts(command('rm -rf build')), ['rm -rf build'])
    assert.deepEqual(await texts(edit('src/a.ts')), ['edit src/a.ts', 'edit src/**', 'edit **'])
    for (const line of ['npm test && rm x', 'npm test > x', 'cat /etc/passwd', 'X=1 npm test']) {
      assert.deepEqual(await texts(command(line)), [], line)
    }
    assert.deepEqual(await texts(edit('.vscode/settings.json')), [])
  })

  it('check what a subagent asks for from the folder in which it works', async () => {
    const ask = async (rules: unknown[], asked: PermissionRequest, cwd: string) => {
      const answers = rulesOf(rules).answersFor('one', () => ({ ...place(), cwd }))
      const given = await answers(
        { ...asked, options: OPTIONS },
        toolCallOf(createSessionState(), asked),
        new AbortController().signal,
      )
      return given && 'rule' in given ? given.rule.action : 'ask'
    }
    const inSrc = join(harness.root, 'src')
    const elsewhere = join(harness.directory, 'elsewhere')
    const allow = [{ path: 'src/**', action: 'allow' }]
    const relative = request({ kind: 'edit', title: 'Edit', locations: [{ path: 'a.ts' }] })
    assert.equal(await ask(allow, relative, inSrc), 'allow')
    assert.equal(await ask([{ path: '**', action: 'allow' }], relative, elsewhere), 'ask')
    assert.equal(await ask([{ path: 'a.ts', action: 'reject' }], relative, harness.root), 'reject')
    assert.equal(await ask(allow, edit('src/a.ts'), elsewhere), 'allow')
    const search = [{ kind: 'search', action: 'allow' }]
    const searching = request({ kind: 'search', title: 'Search', rawInput: { pattern: 'x' } })
    assert.equal(await ask(search, searching, inSrc), 'allow')
    assert.equal(await ask(search, searching, elsewhere), 'ask')
    const run = [{ command: 'npm test', action: 'allow' }]
    assert.equal(await ask(run, command('npm test'), harness.root), 'allow')
    assert.equal(await ask(run, command('npm test'), elsewhere), 'ask')
    assert.equal(
      await ask([{ command: 'npm *', action: 'reject' }], command('npm test'), elsewhere),
      'reject',
    )
  })

  it('are suggested only for tools of the editor that read, since a rule would allow all that a tool does', async () => {
    const acts =
      /rename_symbol|code_action|format|organize_imports|run_task|run_tests|debug_state|debug_control/
    for (const name of EDITOR_TOOL_NAMES) {
      const editorTool = `vscode.${name}`
      const texts = acts.test(name) ? [] : [editorTool]
      const one = { ...request({ kind: 'execute', title: 'Run the task test' }), editorTool }
      const offers = await rulesOf([]).suggest('one', place(), one, toolCallOf(createSessionState(), one))
      assert.deepEqual(
        offers.map(({ text }) => text),
        texts,
      )
    }
  })

  it('never allow a command line with a command that no rule matches', async () => {
    const other = fc.constantFrom('rm -rf x', 'curl evil', 'sh x', 'npm publish')
    const glue = fc.constantFrom(
      '&&',
      ';',
      '|',
      '\n',
      '||',
      '&',
      '$(',
      '`',
      '>',
      '\\\n;',
      "'\n",
      '#\n',
      '" ; "',
    )
    const tail = fc.constantFrom('', ')', '`', "'", '"', ' #')
    await fc.assert(
      fc.asyncProperty(
        glue,
        other,
        tail,
        fc.constantFrom('', ' ', 'x '),
        async (join, command_, end, space) => {
          const line = `npm test ${space}${join} ${command_}${end}`
          // quoted text is an argument
          if (/['"]/.test(join + end)) return
          assert.equal(await answer([npm], command(line)), 'ask', line)
        },
      ),
    )
  })
})
