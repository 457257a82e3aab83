filedesc://texts.arc 0.0.0.0 20030609120000 text/plain 76
1 0 InternetArchive
URL IP-address Archive-date Content-type Archive-length

http://example.org/fed01.txt 127.0.0.1 20030609120000 text/plain 2816
HTTP/1.0 200 OK
Content-Type: text/plain

To the People of the State of New York:

AFTER an unequivocal experience of the inefficacy of the subsisting
federal government, you are called upon to deliberate on a new
Constitution for the United States of America. The subject speaks its
own importance; comprehending in its consequences nothing less than the
existence of the UNION, the safety and welfare of the parts of which it
is composed, the fate of an empire in many respects the most interesting
in the world. It has been frequently remarked that it seems to have been
reserved to the people of this country, by their conduct and example,
to decide the important question, whether societies of men are really
capable or not of establishing good government from reflection and
choice, or whether they are forever destined to depend for their
political constitutions on accident and force. If there be any truth
in the remark, the crisis at which we are arrived may with propriety be
regarded as the era in which that decision is to be made; and a wrong
election of the part we shall act may, in this view, deserve to be
considered as the general misfortune of mankind.

This idea will add the inducements of philanthropy to those of
patriotism, to heighten the solicitude which all considerate and good
men must feel for the event. Happy will it be if our choice should be
directed by a judicious estimate of our true interests, unperplexed and
unbiased by considerations not connected with the public good. But this
is a thing more ardently to be wished than seriously to be expected. The
plan offered to our deliberations affects too many particular interests,
innovates upon too many local institutions, not to involve in its
discussion a variety of objects foreign to its merits, and of views,
passions and prejudices little favorable to the discovery of truth.

Among the most formidable of the obstacles which the new Constitution
will have to encounter may readily be distinguished the obvious interest
of a certain class of men in every State to resist all changes which
may hazard a diminution of the power, emolument, and consequence of
the offices they hold under the State establishments; and the perverted
ambition of another class of men, who will either hope to aggrandize
themselves by the confusions of their country, or will flatter
themselves with fairer prospects of elevation from the subdivision of
the empire into several partial confederacies than from its union under
one government.

It is not, however, my design to dwell upon observations of this
nature. I am well aware that it would be disingenuous to resolve
indiscriminately the opposition of any set of men (merely because their
situations might subject them to suspicion) into interested or ambitious
views.
“Finis” 🖋

http://example.org/fed10.txt 127.0.0.1 20030609120000 text/plain 2879
HTTP/1.0 200 OK
Content-Type: text/plain

To the People of the State of New York:

AMONG the numerous advantages promised by a well constructed Union, none
deserves to be more accurately developed than its tendency to break and
control the violence of faction. The friend of popular governments never
finds himself so much alarmed for their character and fate, as when he
contemplates their propensity to this dangerous vice. He will not fail,
therefore, to set a due value on any plan which, without violating the
principles to which he is attached, provides a proper cure for it.
The instability, injustice, and confusion introduced into the public
councils, have, in truth, been the mortal diseases under which popular
governments have everywhere perished; as they continue to be the
favorite and fruitful topics from which the adversaries to liberty
derive their most specious declamations. The valuable improvements made
by the American constitutions on the popular models, both ancient
and modern, cannot certainly be too much admired; but it would be an
unwarrantable partiality, to contend that they have as effectually
obviated the danger on this side, as was wished and expected. Complaints
are everywhere heard from our most considerate and virtuous citizens,
equally the friends of public and private faith, and of public and
personal liberty, that our governments are too unstable, that the public
good is disregarded in the conflicts of rival parties, and that measures
are too often decided, not according to the rules of justice and the
rights of the minor party, but by the superior force of an interested
and overbearing majority. However anxiously we may wish that these
complaints had no foundation, the evidence, of known facts will not
permit us to deny that they are in some degree true. It will be found,
indeed, on a candid review of our situation, that some of the distresses
under which we labor have been erroneously charged on the operation
of our governments; but it will be found, at the same time, that other
causes will not alone account for many of our heaviest misfortunes;
and, particularly, for that prevailing and increasing distrust of public
engagements, and alarm for private rights, which are echoed from one
end of the continent to the other. These must be chiefly, if not wholly,
effects of the unsteadiness and injustice with which a factious spirit
has tainted our public administrations.

By a faction, I understand a number of citizens, whether amounting to a
majority or a minority of the whole, who are united and actuated by some
common impulse of passion, or of interest, adversed to the rights of
other citizens, or to the permanent and aggregate interests of the
community.

There are two methods of curing the mischiefs of faction: the one, by
removing its causes; the other, by controlling its effects.
“Finis” 🖋

http://example.org/fed51.txt 127.0.0.1 20030609120000 text/plain 2957
HTTP/1.0 200 OK
Content-Type: text/plain

To the People of the State of New York:

TO WHAT expedient, then, shall we finally resort, for maintaining in
practice the necessary partition of power among the several departments,
as laid down in the Constitution? The only answer that can be given is,
that as all these exterior provisions are found to be inadequate, the
defect must be supplied, by so contriving the interior structure of the
government as that its several constituent parts may, by their mutual
relations, be the means of keeping each other in their proper places.
Without presuming to undertake a full development of this important
idea, I will hazard a few general observations, which may perhaps place
it in a clearer light, and enable us to form a more correct judgment
of the principles and structure of the government planned by the
convention.

In order to lay a due foundation for that separate and distinct exercise
of the different powers of government, which to a certain extent is
admitted on all hands to be essential to the preservation of liberty,
it is evident that each department should have a will of its own; and
consequently should be so constituted that the members of each should
have as little agency as possible in the appointment of the members of
the others. Were this principle rigorously adhered to, it would require
that all the appointments for the supreme executive, legislative,
and judiciary magistracies should be drawn from the same fountain of
authority, the people, through channels having no communication whatever
with one another. Perhaps such a plan of constructing the several
departments would be less difficult in practice than it may in
contemplation appear. Some difficulties, however, and some additional
expense would attend the execution of it. Some deviations, therefore,
from the principle must be admitted. In the constitution of the
judiciary department in particular, it might be inexpedient to insist
rigorously on the principle: first, because peculiar qualifications
being essential in the members, the primary consideration ought to be
to select that mode of choice which best secures these qualifications;
secondly, because the permanent tenure by which the appointments are
held in that department, must soon destroy all sense of dependence on
the authority conferring them.

It is equally evident, that the members of each department should be as
little dependent as possible on those of the others, for the emoluments
annexed to their offices. Were the executive magistrate, or the
judges, not independent of the legislature in this particular, their
independence in every other would be merely nominal.

But the great security against a gradual concentration of the several
powers in the same department, consists in giving to those who
administer each department the necessary constitutional means and
personal motives to resist encroachments of the others.
“Finis” 🖋

