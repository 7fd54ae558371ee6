import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { checkAgent } from '../../src/acp/conformance/check-agent.ts'
import type { CheckStatus, ConformanceReport } from '../../src/acp/conformance/conformance-report.ts'
import { CHECK_PROMPTS, CHECK_TIMES } from '../../src/acp/conformance/conformance-run.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { rootVariable } from '../host/isolated-root.ts'
import { SETUPS } from './agents.ts'
import { type AgentName, installAgent } from './install.ts'
import { startMockModel } from './mock-model/server.ts'

/** What an agent's check found: the IDs of the checks that didn't pass, for each version that it speaks. */
export type Findings = Record<string, Partial<Record<Exclude<CheckStatus, 'passed'>, string[]>>>

/** What `conformance-results.json` contains, by the name of the agent. `name`: of one that doesn't say it. */
export type Results = Record<string, { agent: string; name?: string; versions: Findings }>

/** Checks a real agent, with a model on this machine. `folder`: where it's installed, if not by {@link installAgent}. */
export async function conformanceOf(name: AgentName, installed?: string): Promise<ConformanceReport> {
  const folder = installed ?? (await installAgent(name))
  const model = await startMockModel([
    {
      prompt: CHECK_PROMPTS.long,
      steps: [{ text: Array.from({ length: 2000 }, (_, number) => `line ${number}\n`), pause: 20 }],
    },
    {
      prompt: CHECK_PROMPTS.permission,
      steps: [{ work: [{ do: 'shell', command: 'touch parley-check.txt' }] }, { text: ['Done.'] }],
    },
  ])
  const root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), `parley-${name}-`)))
  try {
    const home = path.join(root, 'home')
    const cwd = path.join(root, 'workspace')
    await fs.mkdir(home)
    await fs.mkdir(cwd)
    const definition = await SETUPS[name]({ home, folder, port: model.port, byCommand: false })
    const { command, args } = definition
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      [rootVariable]: root,
    }
    return await checkAgent({
      launch: { command, args, env: { ...env, ...definition.env }, cwd },
      connect: {
        clientInfo: { name: 'parley-check', title: 'Parley check', version: '1' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 64 * 1024 * 1024,
        log: silentLogger,
      },
      withPrompts: true,
      times: { ...CHECK_TIMES, turn: 60_000 },
      signal: new AbortController().signal,
    })
  } finally {
    await model.close()
    await fs.rm(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

export function findingsOf({ versions }: ConformanceReport): Findings {
  const findings: Findings = {}
  for (const { version, isSpoken, results } of versions) {
    if (!isSpoken) continue
    const own: Findings[string] = {}
    for (const status of ['failed', 'notOffered', 'notChecked'] as const) {
      const ids = results.filter(result => result.status === status).map(({ id }) => id)
      if (ids.length > 0) own[status] = ids
    }
    findings[version] = own
  }
  return findings
}
