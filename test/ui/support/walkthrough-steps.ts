/** The titles of the walkthrough's steps, and the names of their images. */
export const walkthroughSteps = [
  ['Choose an agent', 'agent'],
  ['Sign in', 'sign-in'],
  ['Send a prompt', 'prompt'],
  ['Decide what the agent may do', 'permission'],
  ['Review the changes', 'review'],
  ['Find earlier sessions', 'history'],
] as const
