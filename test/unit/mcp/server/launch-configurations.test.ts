import assert from 'node:assert/strict'
import { launchConfigurations } from '../../../../src/mcp/server/launch-configurations.ts'

describe('launch configurations', () => {
  const server = { name: 'Server', program: 'server.js', preLaunchTask: 'build', postDebugTask: 'clean' }
  const client = { name: 'Client', url: `\${input:where}`, osx: { preLaunchTask: { type: 'npm' } } }
  const where = { id: 'where', type: 'command', command: 'pick', args: `\${input:more}` }
  const more = { id: 'more', type: 'promptString' }
  const one = {
    ...{ folder: '/one', folderName: 'one', inputs: [where, more] },
    ...{ configurations: [server, client, 'broken'], compounds: undefined as unknown },
  }
  const other = { folder: '/two', folderName: 'two', configurations: [server], compounds: [], inputs: [] }
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
    assert.deepEqual(launchConfigurations([{ ...one, inputs: [where] }])[1]?.unresolved, [`\${input:more}`])
  })

  it('of compounds are what they start, if that is clear', () => {
    const compound = (...configurations: unknown[]) => {
      const own = { name: 'All', configurations, preLaunchTask: 'first' }
      return { own, found: launchConfigurations([{ ...one, compounds: [own] }, other]).at(-1) }
    }
    const { own, found } = compound('Client', { name: 'Server', folder: 'two' })
    assert.deepEqual(found, {
      ...{ name: 'All', folder: '/one', content: json(own, client, server, where, more) },
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
    const file = { configurations: [server], compounds: [{ name: 'All', configurations: [] }], inputs: [] }
    assert.deepEqual(
      launchConfigurations([file]).map(({ name, own }) => [name, own]),
      [['Server', server]],
    )
  })
})
