import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentIdOf } from '../../../src/agents/presets.ts'
import { readRegistry } from '../../../src/agents/registry/registry-format.ts'
import { projectDirectory } from '../../host/paths.ts'

describe('the bundled copy of the registry', () => {
  const { agents, problems } = readRegistry(
    JSON.parse(readFileSync(join(projectDirectory, 'media/registry.json'), 'utf8')),
  )

  it('is valid', () => assert.deepEqual(problems, []))

  it('contains the agents that new users are offered, under the ids of their presets', () => {
    const ids = agents.map(({ id }) => agentIdOf(id))
    for (const id of ['claude', 'codex', 'gemini', 'copilot', 'opencode']) assert.ok(ids.includes(id), id)
  })
})
