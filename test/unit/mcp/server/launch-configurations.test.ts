import assert from 'node:assert/strict'
import {
  type LaunchSettings,
  launchConfigurations,
} from '../../../../src/mcp/server/launch-configurations.ts'

const described = (settings: LaunchSettings[]) => launchConfigurations(settings).map(one => one.describe())

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
    assert.deepEqual(described([one]), [
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
    assert.deepEqual(described([{ ...one, variables: variables([where]) }])[1]?.unresolved, [
      `\${input:more}`,
    ])
  })

  it('contain the values of their variables, so that a changed value counts as a change', () => {
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
      described([
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
    const [found] = described([{ ...one, ...parts }])
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
      return described([{ ...one, configurations }])[0]?.unresolved
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

  it('are described only when asked for, and compounds with a limited amount of work', () => {
    let reads = 0
    const hostile = '{}'.repeat(75_000)
    const configurations = Array.from({ length: 1000 }, (_, i) => ({
      name: `${i}`,
      program: `\${config:x}`,
    }))
    const names = configurations.map(({ name }) => name)
    const entries = launchConfigurations([
      {
        ...{ ...one, configurations },
        compounds: [
          { name: 'All', configurations: names },
          { name: 'Same', configurations: names.map(() => '7') },
        ],
        variables: () => ({
          inputs: [],
          setting: () => {
            reads++
            return hostile
          },
        }),
      },
    ])
    assert.deepEqual([entries.length, reads], [1002, 0])
    const described = (name: string) => {
      reads = 0
      const { content, unresolved } = entries.find(entry => entry.name === name)!.describe()
      return { content, unresolved, reads }
    }
    const seven = described('7')
    assert.deepEqual([seven.unresolved, seven.reads], [undefined, 2])
    assert.ok(seven.content.includes(hostile))
    const all = described('All')
    assert.match(all.unresolved!.join(), /nested too deeply/)
    assert.ok(all.reads < 50, `${all.reads} reads`)
    const same = described('Same')
    assert.deepEqual([same.unresolved, same.reads], [undefined, 2])
    assert.ok(same.content.endsWith(seven.content.slice(-hostile.length)))
  })

  it('of compounds are what they start, if that is clear', () => {
    const compound = (...configurations: unknown[]) => {
      const own = { name: 'All', configurations, preLaunchTask: 'first' }
      return { own, found: described([{ ...one, compounds: [own] }, other]).at(-1) }
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
      described([file]).map(({ name, own }) => [name, own]),
      [['Server', server]],
    )
  })
})
