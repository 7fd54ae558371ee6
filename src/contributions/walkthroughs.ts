import { text } from './contribution.ts'

/** The walkthroughs on VS Code's Welcome page. */
export const walkthroughs = [
  {
    id: 'getStarted',
    title: text('walkthrough.title', 'Get Started with Parley'),
    description: text('walkthrough.description', 'From the first agent to its first reviewed change.'),
    when: 'parley.isActive',
    steps: [
      {
        id: 'agent',
        title: text('walkthrough.agent', 'Choose an agent'),
        description: text(
          'walkthrough.agent.description',
          'The Parley view lists the agents installed on your machine. If there are none, install one.\n[Manage Agents](command:parley.manageAgents)',
        ),
        media: {
          svg: 'media/walkthrough-agent.svg',
          altText: text('walkthrough.agent.picture', 'A list of agents, each with a button to install it'),
        },
        completionEvents: ['onContext:parley.hasAgent'],
      },
      {
        id: 'signIn',
        title: text('walkthrough.signIn', 'Sign in'),
        description: text(
          'walkthrough.signIn.description',
          "If the agent requires sign-in, Parley shows the options in the conversation. Keys are stored in VS Code's secret storage.\n[Sign In](command:parley.signIn)",
        ),
        media: {
          svg: 'media/walkthrough-sign-in.svg',
          altText: text('walkthrough.signIn.picture', 'A card with the options for signing in'),
        },
        completionEvents: ['onContext:parley.hasSignedIn'],
      },
      {
        id: 'prompt',
        title: text('walkthrough.prompt', 'Send a prompt'),
        description: text(
          'walkthrough.prompt.description',
          "Type @ to add files and other context, or / to use the agent's commands. Press Enter to send.\n[New Session](command:parley.newSession)",
        ),
        media: {
          svg: 'media/walkthrough-prompt.svg',
          altText: text('walkthrough.prompt.picture', "A prompt, the agent's answer, and the input"),
        },
        completionEvents: ['onContext:parley.hasAnswer'],
      },
      {
        id: 'permission',
        title: text('walkthrough.permission', 'Decide what the agent may do'),
        description: text(
          'walkthrough.permission.description',
          'Before an agent changes a file or runs a command, it asks in the conversation. The request shows the diff or the whole command. Rules answer requests that repeat.\n[Manage Permission Rules](command:parley.managePermissionRules)',
        ),
        media: {
          svg: 'media/walkthrough-permission.svg',
          altText: text(
            'walkthrough.permission.picture',
            'A permission request with a diff and the buttons to answer it',
          ),
        },
        completionEvents: ['onContext:parley.hasAnsweredPermission'],
      },
      {
        id: 'review',
        title: text('walkthrough.review', 'Review the changes'),
        description: text(
          'walkthrough.review.description',
          'Keep or revert each change where it stands: above the change in the editor, or in one editor for all files. You can undo what you decide.\n[Review Agent Changes](command:parley.reviewChanges)',
        ),
        media: {
          svg: 'media/walkthrough-review.svg',
          altText: text(
            'walkthrough.review.picture',
            'A file with two changes by an agent, and Keep and Revert above each',
          ),
        },
        completionEvents: ['onContext:parley.hasReviewed'],
      },
      {
        id: 'history',
        title: text('walkthrough.history', 'Find earlier sessions'),
        description: text(
          'walkthrough.history.description',
          'History lists the sessions of all agents and searches what was said in them. Sessions survive a reload of the window.\n[Open History](command:parley.openHistory)',
        ),
        media: {
          svg: 'media/walkthrough-history.svg',
          altText: text('walkthrough.history.picture', 'A list of sessions by date, with a search field'),
        },
        completionEvents: ['onContext:parley.hasSeenHistory'],
      },
    ],
  },
]
