import assert from 'node:assert/strict'
import { launchConfigurations } from '../../../../src/mcp/server/launch-configurations.ts'

describe('launch configurations', () => {
  let settings: Record<string, unknown> = {}
  const variables = (inputs: unknown[]) => (type: unknown) => ({
    inputs,
    setting: (id: string) => settings[id],
    command: (name: string) => (type === 'node' && name === 'PickProcess' ? 'node.pick' : undefined),
  })
  const server = { name: 'Server', program: 'server.js', preLaunchTask: 'build', postDebugTask: 'clean' }
  const client = { name: 'Client', url: `\${input:where}`, osx: { preLaunchTask: { type: 'npm' } } }
  const where = { id: 'where', type: 'command', command: 'pick', args: `\${input:more}` }
  const more = { id: 'more', type: 'promptString' }
  const one = {
    ...{ folder: '/one', folderName: 'one', variables: variables([where, more]) },
    ...{ configurations: [server, client, 'broken'], compounds: undefined as unknown },
  }
  const other = {
    ...{ folder: '/two', folderName: 'two', configurations: [server], compounds: [] },
    variables: variables([]),
  }
  const json = (...values: unknown[]) => values.map(value => JSON.stringify(value, null, 2)).join('\n')

  it('have the inputs that they ask for, and the tasks before and after them', () => {
    assert.deepEqual(launchConfigurations([one]), [
      {
        ...{ name: 'Server', folder: '/one', content: json(server) },
        tasks: [
          { name: 'build', folder: '/one' },
          { name: 'clean', folder: '/one' },
        ],
      },
      {
        ...{ name: 'Client', folder: '/one', content: json(client, where, more) },
        tasks: [{ name: '{"type":"npm"}', folder: '/one' }],
      },
    ])
    assert.deepEqual(launchConfigurations([{ ...one, variables: variables([where]) }])[1]?.unresolved, [
      `\${input:more}`,
    ])
  })

  it('say what VS Code replaces in them, so that a change of it is one of them', () => {
    const own = {
      ...{
        name: 'Own',
        type: 'node',
        program: `\${workspaceFolder}/\${config:app.main}`,
        cwd: `\${workspaceFolder:two}`,
      },
      ...{
        processId: `\${command:PickProcess}`,
        args: [`\${command:other.run}`, `\${env:HOME}`, `\${input:where}`],
      },
      ...{ port: `\${config:app.port}` },
    }
    const content = () =>
      launchConfigurations([
        { ...one, configurations: [own], variables: variables([{ id: 'where', default: `\${file}` }]) },
      ])[0]?.content
    settings = { 'app.main': 'a.js' }
    assert.deepEqual(content()?.split('\n').slice(-7), [
      'VS Code replaces these variables at the start:',
      `\${config:app.main}: "a.js"`,
      `\${command:PickProcess}: the result of the command node.pick`,
      `\${command:other.run}: the result of the command other.run`,
      `\${env:HOME}`,
      `\${config:app.port}: not set`,
      `\${file}`,
    ])
    settings = { 'app.main': 'evil.js' }
    assert.match(content() ?? '', /"evil\.js"/)
  })

  it('say what values that contain variables ask for and run, however they are put together', () => {
    const where = { id: 'a{b}c', type: 'command', command: 'pick', args: { at: `\${config:inner}` } }
    const own = {
      ...{ name: 'Own', type: 'node', program: `\${config:outer}` },
      ...{
        args: [`\${config:dollar}{command:joined}`, `\${env:NONE}\${config:a{b}c}`],
        ...Object.fromEntries([[`\${env:KEY}`, 1]]),
      },
    }
    const parts = {
      configurations: [own],
      variables: () => ({
        inputs: [where],
        setting: (id: string) => settings[id],
        environment: (name: string) => (name === 'KEY' ? `\${command:of.key}` : undefined),
      }),
    }
    settings = {
      ...{ outer: [`\${config:next}`], next: `\${input:a{b}c}`, 'a{b}c': `\${command:last}` },
      ...{ dollar: '$', inner: `\${command:of.input}` },
    }
    const [found] = launchConfigurations([{ ...one, ...parts }])
    assert.ok(found)
    assert.ok(found.content.includes(json(where)))
    for (const command of ['joined', 'last', 'of.key', 'of.input'])
      assert.match(found.content, new RegExp(`the result of the command ${command}`), command)
    assert.equal(found.unresolved, undefined)
    assert.match(found.content, /\$\{config:a\{b\}c\}: "\$\{command:last\}"/)
  })

  it('are not clear if values are nested too deeply', () => {
    const unresolved = (program: string) => {
      const configurations = [{ name: 'Own', program }]
      return launchConfigurations([{ ...one, configurations }])[0]?.unresolved
    }
    settings = {}
    for (let i = 0; i < 30; i++) settings[`s${i}`] = `\${config:s${i + 1}}`
    settings.twice = `\${config:twice}\${config:twice}`
    settings.same = `\${config:same}`
    settings.large = 'x'.repeat(1000)
    for (const program of [`\${config:s0}`, `\${config:twice}`, `\${config:large}`.repeat(1000)])
      assert.match(unresolved(program)?.join() ?? '', /nested too deeply/)
    for (const program of [`\${config:s26}`, `\${config:same}`, '${'.repeat(50_000)])
      assert.equal(unresolved(program), undefined)
  })

  it('of compounds are what they start, if that is clear', () => {
    const compound = (...configurations: unknown[]) => {
      const own = { name: 'All', configurations, preLaunchTask: 'first' }
      return { own, found: launchConfigurations([{ ...one, compounds: [own] }, other]).at(-1) }
    }
    const { own, found } = compound('Client', { name: 'Server', folder: 'two' })
    assert.deepEqual(found, {
      ...{ name: 'All', folder: '/one', content: json(own, client, server, where, more) },
      members: ['Client', 'Server'],
      tasks: [
        { name: 'first', folder: '/one' },
        { name: '{"type":"npm"}', folder: '/one' },
        { name: 'build', folder: '/two' },
        { name: 'clean', folder: '/two' },
      ],
    })
    assert.match(compound('Server').found!.content, /server\.js/)
    assert.deepEqual(compound('Gone', { name: 'Client', folder: 'two' }).found!.unresolved, [
      '"Gone"',
      '{"name":"Client","folder":"two"}',
    ])
  })

  it('of the workspace file are started by themselves, and its compounds not at all', () => {
    const file = {
      configurations: [server],
      compounds: [{ name: 'All', configurations: [] }],
      variables: variables([]),
    }
    assert.deepEqual(
      launchConfigurations([file]).map(({ name, own }) => [name, own]),
      [['Server', server]],
    )
  })
})
