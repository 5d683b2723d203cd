import { type Causes, commonReasons, contentRejected, type Reasons, removeByHand, targetUnusable } from '../reasons.js';

export const canvasReasons = {
  ...commonReasons('condition', 'no-record', 'nothing-made', 'forget-by-hand'),
  'no-user': {
    short: 'no user',
    sentence: 'the mapping finds no user for it',
    kind: 'missing-value',
    readBy: { keys: /\.user$/ },
  },
  'no-assignment': {
    short: 'no course or assignment',
    sentence: 'the mapping finds no course or no assignment for it',
    kind: 'missing-value',
    readBy: { keys: /\.(?:course|assignment)$/ },
  },
  'no-grade': {
    short: 'no grade',
    sentence: 'the mapping finds no grade for it',
    kind: 'missing-value',
    readBy: { keys: /\.grade$/ },
  },
  'same-grade': {
    short: 'grade set already',
    sentence: 'the student has this grade already',
    kind: 'settled',
  },
  'grade-stays': {
    short: 'grade kept',
    sentence: 'a grade stays in the course when its item is deleted',
    kind: 'settled',
  },
} as const satisfies Reasons;

export type CanvasReason = keyof typeof canvasReasons;

export const canvasCauses: Causes = {
  'assignment-not-found': targetUnusable,
  'assignment-not-published': targetUnusable,
  'no-permission': targetUnusable,
  'too-many-assignments': {
    meaning: 'too many assignments of the course have a similar name',
    help: 'name the assignment by its id in the mapping, and apply the configuration, which sends them again',
  },
  'student-not-found': {
    meaning: 'the destination does not know the student',
    help: 'enrol the student, or correct the value in the mapping that identifies students, then redrive them',
  },
  'student-not-gradable': targetUnusable,
  'student-graded-twice': {
    meaning: 'several items of one person set the same grade',
    help: 'let the mapping return one grade for each person and assignment, and apply the configuration',
  },
  'graded-by-somebody-else': {
    meaning: 'another person or system set, changed or cleared the grade',
    help: 'check the grade in Canvas; to replace such grades, set "overwrite: true" and apply the configuration',
  },
  'canvas:forget-by-hand': removeByHand,
  'grade-not-taken': contentRejected,
  'canvas:*': contentRejected,
};
