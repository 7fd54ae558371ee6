import assert from 'node:assert/strict'
import * as vscode from 'vscode'

interface Manifest {
  contributes: {
    commands: Array<{ command: string }>
    configuration: Array<{ properties: Record<string, { scope: string; default: unknown }> }>
  }
}

describe('the manifest', () => {
  const extension = vscode.extensions.getExtension<unknown>('parley.parley')!
  const { contributes } = extension.packageJSON as Manifest
  const properties: Manifest['contributes']['configuration'][number]['properties'] = Object.assign(
    {},
    ...contributes.configuration.map(group => group.properties),
  )

  it('contributes only commands that are registered @floor', async () => {
    await extension.activate()
    const registered = new Set(await vscode.commands.getCommands(true))
    const listed = contributes.commands.map(({ command }) => command)
    assert.ok(listed.length > 0)
    assert.deepEqual(
      listed.filter(command => !registered.has(command)),
      [],
    )
  })

  it('contributes every setting with its default', () => {
    const names = Object.keys(properties)
    assert.ok(names.length > 0)
    for (const name of names)
      assert.deepEqual(
        vscode.workspace.getConfiguration().inspect(name)?.defaultValue,
        properties[name]?.default,
        name,
      )
  })

  it('excludes settings that start programs from folder settings and Settings Sync', () => {
    for (const [name, { scope }] of Object.entries(properties))
      assert.ok(
        ['machine-overridable', 'window', 'resource', 'application'].includes(scope),
        `${name} has the scope ${scope}`,
      )
    for (const name of ['parley.agents', 'parley.mcpServers', 'parley.permissionRules'])
      assert.equal(properties[name]?.scope, 'machine-overridable', name)
    // packages of the registry run, so a workspace must not set its URL
    assert.equal(properties['parley.agentRegistry']?.scope, 'application')
  })

  it('allows agents in the workspace settings', async () => {
    const agents = { probe: { command: 'probe' } }
    const configuration = () => vscode.workspace.getConfiguration('parley')
    await configuration().update('agents', agents, vscode.ConfigurationTarget.Workspace)
    try {
      assert.deepEqual(configuration().inspect('agents')?.workspaceValue, agents)
    } finally {
      await configuration().update('agents', undefined, vscode.ConfigurationTarget.Workspace)
    }
  })
})
