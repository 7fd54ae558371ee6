import assert from 'node:assert/strict'
import * as vscode from 'vscode'

interface Manifest {
  contributes: {
    commands: Array<{ command: string }>
    configuration: { properties: Record<string, { scope: string; default: unknown }> }
  }
}

describe('what the manifest promises', () => {
  const extension = vscode.extensions.getExtension<unknown>('parley.parley')!
  const { contributes } = extension.packageJSON as Manifest

  it('has every command it lists', async () => {
    await extension.activate()
    const registered = new Set(await vscode.commands.getCommands(true))
    const listed = contributes.commands.map(({ command }) => command)
    assert.ok(listed.length > 0)
    assert.deepEqual(
      listed.filter(command => !registered.has(command)),
      [],
    )
  })

  it('has every setting, with its default', () => {
    const names = Object.keys(contributes.configuration.properties)
    assert.ok(names.length > 0)
    for (const name of names)
      assert.deepEqual(
        vscode.workspace.getConfiguration().inspect(name)?.defaultValue,
        contributes.configuration.properties[name]?.default,
        name,
      )
  })

  it('keeps what starts programs out of single folders and out of synchronized settings', () => {
    for (const [name, { scope }] of Object.entries(contributes.configuration.properties))
      assert.ok(
        ['machine-overridable', 'window', 'resource', 'application'].includes(scope),
        `${name} has the scope ${scope}`,
      )
    for (const name of ['parley.agents', 'parley.mcpServers', 'parley.permissionRules'])
      assert.equal(contributes.configuration.properties[name]?.scope, 'machine-overridable', name)
    // what is installed from it runs: no workspace chooses it
    assert.equal(contributes.configuration.properties['parley.agentRegistry']?.scope, 'application')
  })

  it('takes agents from the workspace settings', async () => {
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
