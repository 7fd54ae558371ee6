import type { Turn } from '../turn.ts'

/** `/plan [goal]`: a plan that moves, with nothing done behind it. */
export async function plan(turn: Turn, input: string): Promise<void> {
  const goal = input || 'show what a plan looks like'
  await turn.think(`How would one ${goal}? Look first, decide, do it in small steps, check.`)
  const steps = [
    'Look around',
    `Decide how to ${goal}`,
    'Do the first half',
    'Do the second half',
    'Check the result',
  ]
  await turn.plan(steps)
  await turn.say(`A plan for: **${goal}**. I only pretend to work on it.\n\n`)
  for (const [number, step] of steps.entries()) {
    await turn.step(number)
    await turn.say(`${number + 1}. ${step} …\n`)
    await turn.rest(700)
  }
  await turn.step(steps.length)
  await turn.say('\nEvery step is done.')
}
