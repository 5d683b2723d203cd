import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { headerSecret, oneOf, sinkUrl } from '../../config/values.js';
import { expression } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

const createKeys = z.strictObject({
  points: z
    .number({ error: 'allowed: a number of points' })
    .min(0, { error: 'allowed: 0 or more points' })
    .max(1_000_000, { error: 'allowed: at most 1000000 points' })
    .describe('The maximum number of points for the assignment.'),
});

/** The settings with which an assignment is created if the course has none with this name. */
export type CreateKeys = Readonly<z.infer<typeof createKeys>>;

const record = z.strictObject({
  from: oneOf(listNames).describe('The list whose items become grades.'),
  when: expression().optional().describe('Only items for which this is true are graded.'),
  course: expression().describe('The course: its id, or `sis_course_id:` and the id in your student system.'),
  assignment: expression().describe(
    'The assignment: its Canvas id, `sis_assignment_id:` and its SIS id, or `name:` and its full name.',
  ),
  createAssignment: createKeys
    .optional()
    .describe('If the course has no assignment with the name given by `name:`, creates it with these settings.'),
  user: expression().describe('The student: a Canvas id, or `sis_user_id:` or `sis_login_id:` followed by that id.'),
  grade: expression().describe(
    'The grade: points as a number, a percentage as text such as "85%", a letter, pass or fail.',
  ),
  overwrite: z
    .boolean({ error: 'allowed: true or false' })
    .default(false)
    .describe('Whether to replace a grade that a teacher or another system has set.'),
});

/** An entry of `records`, which maps items to grades. */
export type GradeKeys = Readonly<z.infer<typeof record>>;

/** docs/sinks/canvas.md explains each key to users. */
export const canvasConfigSchema = z
  .strictObject({
    baseUrl: sinkUrl().describe('The address of your Canvas.'),
    token: headerSecret().describe(
      'An access token of a user who may grade, preferably a user created for pigeonpost.',
    ),
    records: z
      .array(record, { error: 'allowed: a list of records' })
      .min(1, { error: 'allowed: at least one record' })
      .describe('Entries that say which items become grades.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('baseUrl'));

/** The keys of a `canvas` sink in pigeonpost.yaml, without those that all sinks share. */
export type CanvasConfig = Readonly<z.infer<typeof canvasConfigSchema>>;
