import { pause } from '../pace.ts'
import { fenced, text } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

/** `/fail`: a tool that fails, and an agent that goes on. */
export async function fail(turn: Turn): Promise<void> {
  await turn.say('Now a tool that fails.\n\n')
  const call = await turn.tool({
    title: 'Fetch https://demo.invalid/data.json',
    kind: 'fetch',
    rawInput: { url: 'https://demo.invalid/data.json' },
  })
  await call.run()
  await turn.rest(600)
  await call.fail('The host demo.invalid does not exist.', [
    fenced('getaddrinfo ENOTFOUND demo.invalid\n    at the demo agent, which never tried'),
  ])
  await turn.say('It failed, as it was meant to; nothing was really fetched. The turn goes on.')
}

/** `/slow [seconds]`: work that takes as long as asked for and can be cancelled at any moment. */
export async function slow(turn: Turn, input: string): Promise<void> {
  const seconds = Math.min(Math.max(Number.parseFloat(input) || 30, 0.1), 3600)
  await turn.say(`I will be busy for ${seconds} seconds. Stop me whenever you like.\n\n`)
  const call = await turn.tool({ title: `Work for ${seconds} seconds`, kind: 'other', rawInput: { seconds } })
  await call.run()
  const steps = Math.min(Math.ceil(seconds), 120)
  for (let done = 1; done <= steps; done++) {
    await pause((seconds * 1000) / steps, turn.signal)
    await call.update({ content: [text(`${Math.round((done / steps) * 100)} % done`)] })
  }
  await call.complete()
  await turn.say('Finished, and nobody stopped me.')
}
