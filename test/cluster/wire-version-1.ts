/*
 * Wire between nodes, version 1: the bytes of each message as Latin-1, after the head of a batch. Written once, never
 * changed: nodes of later versions must understand them, and be understood, while a hub is updated node by node.
 */

/** The head of a batch of the node that a test plays. */
export const FROM_RAW = '\x01\x24b0000000-0000-4000-8000-000000000001';
/** The head of a batch of the hub, whose own id is written as this one. */
export const FROM_HUB = '\x01\x24a0000000-0000-4000-8000-000000000001';
/** Ids that are made anew in every test, as they are written here. */
export const names = {
  hub: 'a0000000-0000-4000-8000-000000000001',
  connection: 'c0000000-0000-4000-8000-000000000001',
  session: 'd0000000-0000-4000-8000-000000000001',
} as const;

/** What the instance of the tests is known by. */
export const INSTANCE_KEY = 'OF1E4S98hQkshyE5rkk813iaDOVUkKa4ye3s5o9mybI';

export const wire = {
  /** A call, without a timeout and without progress; and how it may end. */
  call: '\x1f\x00\x00\x00\x0b\x00\x00\x00["call",0,"u1","x","f",0,false]{"n":1e400}',
  result: '\x0c\x00\x00\x00\x18\x00\x00\x00["result",0]{"big":9007199254740993}',
  /** With the id that the serving session was asked with. */
  identifiedResult: '\x12\x00\x00\x00\x18\x00\x00\x00["result",0,"x#0"]{"big":9007199254740993}',
  error: '\x37\x00\x00\x00\x00\x00\x00\x00["error",0,"function-failed","no luck","no","x#0",null]',
  errorToWait: '\x33\x00\x00\x00\x00\x00\x00\x00["error",0,"rate-limited","too much","no",null,250]',
  moved: '\x0b\x00\x00\x00\x00\x00\x00\x00["moved",0]',
  cancel: '\x1d\x00\x00\x00\x00\x00\x00\x00["cancel",0,"call-cancelled"]',
  callerGone: '\x1a\x00\x00\x00\x00\x00\x00\x00["cancel",0,"caller-gone"]',
  /** A call with a timeout, progress and a trace context. */
  tracedCall:
    '\x60\x00\x00\x00\x02\x00\x00\x00["call",0,"u1","x","f",1500,true,"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",null]{}',
  progress: '\x0e\x00\x00\x00\x06\x00\x00\x00["progress",0]"half"',
  /** Questions about a name, and their answers. */
  askProbe:
    '\x43\x00\x00\x00\x00\x00\x00\x00["ask",0,"probe",["u1","x","c0000000-0000-4000-8000-000000000001"]]',
  askDisconnect:
    '\x4e\x00\x00\x00\x00\x00\x00\x00["ask",0,"disconnect",["u1","x","c0000000-0000-4000-8000-000000000001",false]]',
  yes: '\x11\x00\x00\x00\x00\x00\x00\x00["answer",0,true]',
  no: '\x12\x00\x00\x00\x00\x00\x00\x00["answer",0,false]',
  refusal:
    '\x44\x00\x00\x00\x00\x00\x00\x00["refusal",0,"remote-not-connected","no connected remote named \'x\'"]',
  overruled: '\x39\x00\x00\x00\x00\x00\x00\x00["overruled","u1","c0000000-0000-4000-8000-000000000001"]',
  /** An instance that comes from another node, and its frames. */
  askTakeOver:
    '\x76\x00\x00\x00\x00\x00\x00\x00["ask",0,"take-over",["u1","OF1E4S98hQkshyE5rkk813iaDOVUkKa4ye3s5o9mybI","d0000000-0000-4000-8000-000000000001",true]]',
  takenOver: '\x29\x00\x00\x00\x00\x00\x00\x00["answer",0,{"isResumed":true,"floor":1}]',
  frame:
    '\x30\x00\x00\x00\x4b\x00\x00\x00["frame","d0000000-0000-4000-8000-000000000001"]{"action":"remote-call-cancel","requestId":"y#0","reason":"call-cancelled"}',
  sessionFrame:
    '\x38\x00\x00\x00\x40\x00\x00\x00["session-frame","d0000000-0000-4000-8000-000000000001"]{"action":"remote-call-result","requestId":"x#0","result":1e400}',
  sessionEnd: '\x3b\x00\x00\x00\x00\x00\x00\x00["session-end","d0000000-0000-4000-8000-000000000001",1000]',
  sessionLost: '\x3b\x00\x00\x00\x00\x00\x00\x00["session-end","d0000000-0000-4000-8000-000000000001",null]',
  /** Questions about a run. */
  askRunGet: '\x1f\x00\x00\x00\x00\x00\x00\x00["ask",0,"run-get",["u1","r1"]]',
  runReplay:
    '\x2d\x00\x00\x00\x25\x00\x00\x00["answer",0,{"firstSeq":0,"isFinished":true}][{"action":"run-finished","body":{}}]',
  askRunCancel: '\x22\x00\x00\x00\x00\x00\x00\x00["ask",0,"run-cancel",["u1","r1"]]',
  runNotFound: '\x33\x00\x00\x00\x00\x00\x00\x00["refusal",0,"run-not-found","no run with id \'r1\'"]',
  /** Bytes of the node that gets it were read. */
  read: '\x10\x00\x00\x00\x00\x00\x00\x00["read",1048653]',
  /** What later versions may say: fields at the end, kinds and questions of their own. */
  laterResult: '\x1f\x00\x00\x00\x01\x00\x00\x00["result",0,"later",{"more":1}]1',
  laterCall: '\x3c\x00\x00\x00\x02\x00\x00\x00["call",0,"u1","x","f",0,false,null,null,"later",{"more":1}]{}',
  laterProbe:
    '\x53\x00\x00\x00\x00\x00\x00\x00["ask",0,"probe",["u1","x","c0000000-0000-4000-8000-000000000001","later"],"later"]',
  laterError:
    '\x43\x00\x00\x00\x00\x00\x00\x00["error",0,"a-later-code","what happened","yes","x#0",null,"later"]',
  laterKind: '\x14\x00\x00\x00\x02\x00\x00\x00["telepathy",0,"u1"]{}',
  laterQuestion: '\x18\x00\x00\x00\x00\x00\x00\x00["ask",0,"telepathy",[]]',
  unknownQuestion:
    '\x3b\x00\x00\x00\x00\x00\x00\x00["refusal",0,"internal-error","another version of the hub"]',
} as const;
