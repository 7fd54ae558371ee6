import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETUPS } from '../agents/agents.ts'
import { installAgent } from '../agents/install.ts'
import type { Script } from '../agents/mock-model/answer.ts'
import type { Step, Work } from '../agents/mock-model/model.ts'
import { startMockModel } from '../agents/mock-model/server.ts'
import { atExit } from '../host/at-exit.ts'
import type { IsolatedRoot } from '../host/isolated-root.ts'
import type { AgentSetting } from '../ui/support/fixture-agent.ts'

/** The prompts in the README's images. */
export const prompts = {
  work: 'Find planets in any case, and let a 404 list the ones that exist.',
  slow: 'Speed up the tests',
  asks: 'Let a 404 list the planets that exist',
}

const plan = (finished: number): Work => ({
  do: 'plan',
  entries: ['Find names in any case', 'List the known names with a 404', 'Check both'].map((content, at) => ({
    content,
    status: at < finished ? 'completed' : at === finished ? 'in_progress' : 'pending',
  })),
})

/** The model's answers. Each step has at most one tool call, whose result leads to the next step. */
function scripts(folder: string): Script[] {
  const path = join(folder, 'planets.js')
  // with lines short enough for a side-by-side diff
  const find = ['  return planets.find(', '    p => p.name === name,', '  )']
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('  return planets.find(planet => planet.name === name)', find.join('\n')))
  const planets: Work = {
    do: 'edit',
    path,
    oldText: find.slice(0, 2).join('\n'),
    newText: [
      '  const key = name.trim().toLowerCase()',
      '  return planets.find(',
      '    p => p.name.toLowerCase() === key,',
    ].join('\n'),
  }
  const file = join(folder, 'server.js')
  const answer = readFileSync(file, 'utf8')
    .split('\n')
    .find(line => line.includes('response.end('))!
  const server: Work = {
    do: 'edit',
    path: file,
    oldText: answer,
    newText: [
      '  const known = planets.map(planet => planet.name)',
      answer.replace(' }))', ', known }))'),
    ].join('\n'),
  }
  const asked: Step[] = [
    {
      text: ['`server.js` writes the response. I’ll add the known names there.'],
      work: [server],
    },
    { text: ['A 404 now lists the planets that exist.'] },
  ]
  return [
    {
      prompt: prompts.work,
      steps: [
        {
          thoughts: ['**Where names are compared**\n\nNames are compared as they are written.'],
          text: ['First, I look at how names are compared.'],
          work: [{ do: 'shell', command: 'grep -rn findPlanet .' }],
        },
        { work: [plan(0)] },
        {
          text: [
            '`findPlanet` compares with `===`, so **earth** isn’t found. I’ll compare in lower case in `planets.js:9`.',
          ],
          work: [planets],
        },
        { work: [plan(1)] },
        { text: ['Next, a 404 lists the planets that exist.'], work: [server] },
        { work: [plan(3)] },
        { text: ['Planets are now found in any case, and a 404 lists the ones that exist.'] },
      ],
    },
    { prompt: prompts.asks, steps: asked },
    {
      prompt: prompts.slow,
      steps: [{ text: Array.from({ length: 6000 }, () => 'Measuring… '), pause: 500 }],
    },
  ]
}

/** Real agents that use a model on loopback. They are installed if necessary. */
export async function readmeAgents(root: IsolatedRoot): Promise<Record<string, AgentSetting>> {
  const model = await startMockModel(scripts(join(root.directory, 'workspace', 'planets-api')))
  atExit(() => void model.close())
  const setUp = async (id: 'codex' | 'gemini', name: string, env: Record<string, string> = {}) => {
    const home = homeOf(root, id)
    mkdirSync(home, { recursive: true })
    const agent = await SETUPS[id]({
      home,
      folder: await installAgent(id),
      port: model.port,
      byCommand: false,
    })
    return { name, command: agent.command, args: [...agent.args], env: { ...agent.env, ...env } }
  }
  const codex = await setUp('codex', 'Codex', { INITIAL_AGENT_MODE: 'read-only' })
  // a model that it knows, since it would show a warning about others
  const config = join(homeOf(root, 'codex'), '.codex', 'config.toml')
  writeFileSync(config, readFileSync(config, 'utf8').replace('"mock-model"', '"gpt-5.5"'))
  return { codex, gemini: await setUp('gemini', 'Gemini CLI') }
}

function homeOf(root: IsolatedRoot, agent: string): string {
  return join(root.directory, `home-${agent}`)
}
