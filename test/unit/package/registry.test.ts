import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentIdOf } from '../../../src/agents/presets.ts'
import { readRegistry } from '../../../src/agents/registry/registry-format.ts'
import { projectDirectory } from '../../host/paths.ts'

describe('the copy of the registry that ships with Parley', () => {
  const { agents, problems } = readRegistry(
    JSON.parse(readFileSync(join(projectDirectory, 'media/registry.json'), 'utf8')),
  )

  it('is read without a problem', () => assert.deepEqual(problems, []))

  it('has the agents that a new user is offered, under the ids that they have when they are found', () => {
    const ids = agents.map(({ id }) => agentIdOf(id))
    for (const id of ['claude', 'codex', 'gemini', 'copilot', 'opencode']) assert.ok(ids.includes(id), id)
  })
})
