import type { CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'

/** `/ask`: asks the person with a form, where the client offers forms. */
export async function ask(turn: Turn): Promise<void> {
  if (!turn.features.forms) return turn.say('Your client offers no forms, so I can only ask in words.')
  let answer: CreateElicitationResponse
  try {
    answer = await turn.client.request(
      'elicitation/create',
      {
        mode: 'form',
        sessionId: turn.session.id,
        message: 'How do you like your demo?',
        requestedSchema: {
          type: 'object',
          properties: {
            name: { type: 'string', title: 'Your name', minLength: 1, maxLength: 60 },
            pace: {
              type: 'string',
              title: 'Pace',
              oneOf: [
                { const: 'slow', title: 'Slow' },
                { const: 'fast', title: 'Fast' },
              ],
              default: 'fast',
            },
            times: { type: 'integer', title: 'How many times', minimum: 1, maximum: 5, default: 1 },
            mail: {
              type: 'string',
              title: 'Where to write to',
              format: 'email',
              description: 'Only if you want an answer.',
            },
            day: { type: 'string', title: 'Day', format: 'date' },
            parts: {
              type: 'array',
              title: 'What you liked',
              items: {
                anyOf: [
                  { const: 'talk', title: 'The talk' },
                  { const: 'plan', title: 'The plan' },
                  { const: 'edit', title: 'The edit' },
                ],
              },
              default: ['talk'],
            },
            again: { type: 'boolean', title: 'Again tomorrow?', default: true },
          },
          required: ['name'],
        },
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    )
  } catch (error) {
    turn.check()
    throw error
  }
  if (answer.action !== 'accept')
    return turn.say(`You chose to ${answer.action}, so I know no more than before.`)
  await turn.say(`You answered:\n\n\`\`\`json\n${JSON.stringify(answer.content ?? {}, null, 2)}\n\`\`\``)
}
