import { expect, test } from 'vitest';
import { isSuitePresent, mandatoryFiles, runSuite, suiteNote } from './public-suite.js';

// Every miss is a schema that refers to another document. Such references are refused by design: no
// document of a stranger makes the hub fetch anything, and none is built in.
const metaSchema = 'refers to the meta-schema, which is another document';
const remote = "refers to a document of the suite's own host";

const draft7Misses = {
  'definitions.json: validate definition against metaschema': metaSchema,
  'ref.json: remote ref, containing refs itself': metaSchema,
};

const draft2020Misses = {
  'defs.json: validate definition against metaschema': metaSchema,
  'ref.json: remote ref, containing refs itself': metaSchema,
  'dynamicRef.json: strict-tree schema, guards against misspelled properties': remote,
  'dynamicRef.json: tests for implementation dynamic anchor and reference link': remote,
  'dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first': remote,
  'dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first': remote,
  'dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor': remote,
};

test.skipIf(!isSuitePresent)(
  `SCHEMA-03: all of the public draft-07 suite holds but what needs other documents${suiteNote}`,
  () => {
    const { total, passed, missedGroups } = runSuite('draft7', mandatoryFiles('draft7'));

    expect(missedGroups.toSorted()).toEqual(Object.keys(draft7Misses).toSorted());
    expect(passed).toBeGreaterThanOrEqual(898);
    expect(total - passed).toBe(4);
  },
);

test.skipIf(!isSuitePresent)(
  `SCHEMA-03: all of the public 2020-12 suite holds but what needs other documents${suiteNote}`,
  () => {
    const { total, passed, missedGroups } = runSuite('draft2020-12', mandatoryFiles('draft2020-12'));

    expect(missedGroups.toSorted()).toEqual(Object.keys(draft2020Misses).toSorted());
    expect(passed).toBeGreaterThanOrEqual(1246);
    expect(total - passed).toBe(17);
  },
);

const regexFiles = ['optional/ecmascript-regex.json', 'optional/non-bmp-regex.json'];

test.skipIf(!isSuitePresent)(
  `SCHEMA-03: the optional tests of regular expressions hold without a miss${suiteNote}`,
  () => {
    expect(runSuite('draft7', regexFiles)).toMatchObject({ missedGroups: [] });
    expect(runSuite('draft2020-12', regexFiles)).toMatchObject({ missedGroups: [] });
  },
);

const otherOptionalFiles = [
  'optional/anchor.json',
  'optional/bignum.json',
  'optional/dependencies-compatibility.json',
  'optional/dynamicRef.json',
  'optional/float-overflow.json',
  'optional/id.json',
  'optional/no-schema.json',
  'optional/refOfUnknownKeyword.json',
  'optional/unknownKeyword.json',
];

test.skipIf(!isSuitePresent)(
  `the other optional tests hold but for formats and other drafts${suiteNote}`,
  () => {
    expect(runSuite('draft2020-12', otherOptionalFiles)).toMatchObject({ missedGroups: [] });
  },
);
